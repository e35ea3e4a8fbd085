import type { AskForStamp } from '@vat/domain';
import type { Database } from '../connect-database.js';
import { bindIdempotencyKey } from '../idempotency/bind-idempotency-key.js';
import { requestStamp } from './request-stamp.js';

/** Thrown inside the transaction to take the key's binding back. */
class NoCheck extends Error {}

/** Writes that an account's live check is to be stamped and binds the Idempotency-Key of the call, or changes nothing. */
export const askForStamp =
  (db: Database): AskForStamp =>
  async ({ checkId, accountId, now }, key) => {
    try {
      return await db.$transaction(async (tx) => {
        const bound = key === null || (await bindIdempotencyKey(tx)({ ...key, accountId, requestId: null, now }));
        if (!bound) return { kind: 'key_taken' as const };
        const asked = await requestStamp(tx)(checkId, accountId, now);
        if (!asked) throw new NoCheck();
        const { created, ...stamp } = asked;
        return { kind: 'asked' as const, stamp, created };
      });
    } catch (error) {
      if (error instanceof NoCheck) return { kind: 'no_check' };
      throw error;
    }
  };
