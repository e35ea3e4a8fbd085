import type { Settlement } from '@vat/db';
import { type Answer, type CheckRequest, checkBody, type HashCheck, newUuid } from '@vat/domain';

export type MakeCheckDeps = { hashCheck: HashCheck; newSalt: () => string };

/** A check that is not recorded yet: as it is shown, and as it is stored. */
export type MadeCheck = { hashed: ReturnType<HashCheck>; check: Settlement['check'] };

/** Makes the check of a request that was answered. */
export const makeCheck =
  ({ hashCheck, newSalt }: MakeCheckDeps) =>
  (request: CheckRequest, answer: Answer): MadeCheck => {
    const id = newUuid();
    const hashed = hashCheck(checkBody(id, request, answer, newSalt()));
    const check = {
      id,
      vatNumber: request.vatNumber,
      valid: answer.verdict === 'valid',
      reference: request.reference,
      checkedAt: new Date(answer.answeredAt),
      bytes: hashed.bytes,
      hash: hashed.hash,
    };
    return { hashed, check };
  };
