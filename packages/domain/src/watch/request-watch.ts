import { PLANS, type Plan } from '../account/account.js';
import { AppError } from '../errors.js';
import type { AnswerToBind, FindKey, IdempotencyKey, StoredAnswer } from '../idempotency-key.js';
import { newUuidAt } from '../ids.js';
import { oncePerKey } from '../once-per-key.js';
import { readRequester } from '../request/request-check.js';
import { readVatNumber } from '../vat-number/index.js';
import type { NewWatch, Watch, WatchFrequency } from './watch.js';
import { sellsFrequency } from './watch.js';

/** A POST /v1/watches whose body has passed its schema. */
export type WatchCall = {
  caller: { accountId: string; plan: Plan; disabled: boolean };
  vatNumber: string;
  countryCode: string | undefined;
  label: string | null;
  frequency: WatchFrequency;
  requester: string | undefined;
  idempotency: IdempotencyKey | null;
};

/** `key_taken`: the Idempotency-Key was used before; nothing was changed. */
export type WatchCreation = { kind: 'created' | 'exists' | 'limit_reached' | 'key_taken' };

/** Port: binds the key with its answer and creates the watch if the account has fewer than `limit` and not this one; otherwise changes nothing. */
export type CreateWatch = (watch: NewWatch, limit: number, idempotency: AnswerToBind | null) => Promise<WatchCreation>;

type RequestWatchDeps = {
  findKey: FindKey;
  create: CreateWatch;
  answerOf: (watch: Watch) => StoredAnswer;
  now: () => Date;
};

/** Reads the number to watch. Throws INVALID_FORMAT when no covered country's syntax accepts it. */
const readWatchedNumber = ({ vatNumber, countryCode }: Pick<WatchCall, 'vatNumber' | 'countryCode'>) => {
  const read = readVatNumber(vatNumber, countryCode);
  if (read.kind === 'well_formed') return read;
  throw new AppError('INVALID_FORMAT', { message: read.reason });
};

/**
 * Creates a watch. Validates in this order: the number and the requester, the account, the
 * Idempotency-Key, then the plan, the number again, the limit. Its first run is due at once.
 * Throws INVALID_FORMAT, INVALID_REQUESTER, ACCOUNT_DISABLED, IDEMPOTENCY_MISMATCH, FREQUENCY_NOT_ALLOWED, WATCH_EXISTS,
 * WATCH_LIMIT.
 */
export const requestWatch =
  ({ findKey, create, answerOf, now }: RequestWatchDeps) =>
  async (call: WatchCall): Promise<{ answer: StoredAnswer; replayed: boolean }> => {
    const { caller, frequency, label, idempotency } = call;
    const read = readWatchedNumber(call);
    const requester = readRequester(call.requester);
    if (caller.disabled) throw new AppError('ACCOUNT_DISABLED');

    const createdAt = now();
    const { vatNumber, memberState, national } = read;
    // A replay comes before the limit, which the first call may have reached.
    const created = await oncePerKey(findKey, {
      accountId: caller.accountId,
      idempotency,
      now: createdAt,
      work: async (key) => {
        if (!sellsFrequency(caller.plan, frequency)) throw new AppError('FREQUENCY_NOT_ALLOWED');
        const watch = { id: newUuidAt(createdAt), accountId: caller.accountId, vatNumber, label, frequency, createdAt };
        const answer = answerOf({
          ...watch,
          state: 'active',
          nextCheckAt: createdAt,
          requestId: null,
          lastCheckId: null,
          lastCheckedAt: null,
          missedSince: null,
        });
        const limit = PLANS[caller.plan].watches;
        const { kind } = await create(
          { ...watch, memberState, national, input: call.vatNumber, requester },
          limit,
          key && { ...key, answer },
        );
        if (kind === 'exists') throw new AppError('WATCH_EXISTS');
        if (kind === 'limit_reached') throw new AppError('WATCH_LIMIT', { extra: { limit } });
        return kind === 'created' ? { kind, answer } : null;
      },
    });
    return { answer: created.answer, replayed: created.kind === 'replay' };
  };
