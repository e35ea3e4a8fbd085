import { randomUUID } from 'node:crypto';
import { hashApiKey, newApiKey, uuidOf } from '@vat/domain';
import { insertAccount } from './insert-account.js';
import type { World } from './start-world.js';

/** Creates live keys for the world's account, or for the account with the given UUID. Tests with parallel calls need several. */
export const issueKeys = async (world: Pick<World, 'sql'>, count: number, accountId?: string): Promise<string[]> => {
  const keys = Array.from({ length: count }, () => newApiKey(false));
  const rows = keys.map((key) => ({ id: randomUUID(), hash: hashApiKey(key).toString('hex'), hint: key.slice(-4) }));
  await world.sql(
    `INSERT INTO api_key (id, account_id, name, test, hash, hint, created_at)
     SELECT x.id, COALESCE($2::uuid, (SELECT id FROM account ORDER BY created_at LIMIT 1)), 'parallel', false,
       decode(x.hash, 'hex'), x.hint, now()
     FROM jsonb_to_recordset($1::jsonb) AS x(id uuid, hash text, hint text)`,
    [JSON.stringify(rows), accountId ?? null],
  );
  return keys;
};

/** POST /v1/checks by fetch, which begins at once: a call of supertest begins when it is awaited. */
export const postCheck = async (baseUrl: string, key: string, vatNumber: string) => {
  const response = await fetch(`${baseUrl}/v1/checks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ vat_number: vatNumber }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

/** The answer to a direct check, and the time until it arrived, in milliseconds. */
export type CheckAnswer = { vatNumber: string; status: number; body: Record<string, unknown>; ms: number };

/** Below the limit of pending requests of an account, with a margin for the other requests of a test. */
const MAX_OF_ACCOUNT = 150;

/** One key per call: of one account, by default the world's, and of new ones if there are too many calls for one. */
const keysFor = async (world: Pick<World, 'sql'>, count: number, accountId?: string): Promise<string[]> => {
  const keys = await issueKeys(world, Math.min(count, MAX_OF_ACCOUNT), accountId);
  while (keys.length < count) {
    const { account_id: id } = await insertAccount(world);
    keys.push(...(await issueKeys(world, Math.min(count - keys.length, MAX_OF_ACCOUNT), uuidOf('account', id) ?? '')));
  }
  return keys;
};

/**
 * POST /v1/checks for all numbers at once, each with its own key so that no rate limit applies. `accountId`: the UUID of the
 * account, by default the world's.
 */
export const callChecks = async (
  world: Pick<World, 'sql' | 'baseUrl'>,
  vatNumbers: readonly string[],
  accountId?: string,
): Promise<CheckAnswer[]> => {
  const keys = await keysFor(world, vatNumbers.length, accountId);
  return Promise.all(
    vatNumbers.map(async (vatNumber, i) => {
      const startedAt = performance.now();
      const answer = await postCheck(world.baseUrl(), keys[i] ?? '', vatNumber);
      return { vatNumber, ...answer, ms: performance.now() - startedAt };
    }),
  );
};

type UploadAnswer = { status: number; headers: Headers; body: Record<string, never> & { batch_id: string } };

/** Options of an upload: by default `text/csv` with the world's live key. `query` begins with `?`. */
export type UploadOptions = { key?: string; idempotencyKey?: string; type?: string; fileName?: string; query?: string };

/** POST /v1/batches with a file as its body. */
export const uploadBatch = async (
  world: Pick<World, 'baseUrl' | 'account'>,
  file: string | Uint8Array,
  { key = world.account.live_key, idempotencyKey, type = 'text/csv', fileName, query = '' }: UploadOptions = {},
): Promise<UploadAnswer> => {
  const response = await fetch(`${world.baseUrl()}/v1/batches${query}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': type,
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      ...(fileName === undefined ? {} : { 'content-disposition': `attachment; filename="${fileName}"` }),
    },
    body: Buffer.from(file),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as UploadAnswer['body'],
  };
};

/** The number of digits after the prefix, for member states whose numbers consist only of digits. */
const DIGITS = {
  DE: 9,
  IT: 11,
  PL: 10,
  FI: 8,
  DK: 8,
  EE: 9,
  HU: 8,
  LU: 8,
  MT: 8,
  SI: 8,
  SK: 10,
  PT: 9,
  EL: 9,
  HR: 11,
  LV: 11,
  FR: 11,
} as const;

/** A member state that {@link numberOf} can make numbers of. */
export type NumberedState = keyof typeof DIGITS;
export const NUMBERED_STATES = Object.keys(DIGITS) as NumberedState[];

/** The n-th number of a member state, with prefix: well formed, but its checksum is usually wrong, which is only recorded. */
export const numberOf = (state: NumberedState, n: number): string => {
  const length = DIGITS[state];
  return `${state}${String(10 ** (length - 1) + (n % 10 ** (length - 2)))}`;
};

/** Makes numbers, none of them twice: of a member state, by default of one of `states` after another. */
export const numberSequence = (states: readonly NumberedState[] = NUMBERED_STATES) => {
  let n = 0;
  return (state?: NumberedState): string => {
    n += 1;
    return numberOf(state ?? states[n % states.length] ?? 'DE', n);
  };
};
