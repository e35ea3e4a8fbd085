import type { BoundKey } from '../idempotency-key.js';
import { awaitEnd } from './await-end.js';
import type { AcceptanceResult } from './ports.js';
import { msIn, newRequest, POLICY } from './request.fixture.js';
import type { CheckRequest } from './request.js';
import { type RequestCheckDeps, requestCheck } from './request-check.js';

const ENTRY = { source: 'syntax', outcome: 'valid', started_at: msIn(0).toISOString(), duration_ms: 0 } as const;
const withdrawn = (reason: string) => newRequest({ state: 'withdrawn', reason, entries: [ENTRY] });

const SUBSCRIPTION = { next: async () => null, close: () => undefined };
/** Each read returns the next of the states; each acceptance loses its race. */
const waitFor = (states: readonly CheckRequest[]) => {
  const reads = [...states];
  return awaitEnd({
    find: async () => ({ request: reads.shift() ?? newRequest(), check: null }),
    accept: async (): Promise<AcceptanceResult> => ({ kind: 'lost_race' }),
    now: () => msIn(POLICY.windowMs),
    stopping: new AbortController().signal,
  })('id', POLICY, SUBSCRIPTION);
};

test('a call whose request was refused with TOO_MANY_PENDING by another call that waits for it is refused alike', async () => {
  await expect(waitFor([newRequest(), withdrawn('TOO_MANY_PENDING')])).rejects.toMatchObject({
    code: 'TOO_MANY_PENDING',
    extra: { pending: 200, retry_after: 30, checks: [ENTRY] },
  });
});

test.each([
  ['refused with TOO_MANY_PENDING', withdrawn('TOO_MANY_PENDING')],
  ['refused with INVALID_REQUESTER', withdrawn('INVALID_REQUESTER')],
  ['abandoned before it was answered 202', newRequest({ state: 'abandoned', reason: 'UPSTREAM_NO_ANSWER' })],
])('a repeated call whose request was just %s is in progress: its next repeat begins again', async (_what, request) => {
  const fingerprint = Buffer.from('same');
  const bound: BoundKey = { fingerprint, requestId: request.id, lockedUntil: msIn(0), answer: null };
  const deps = { findKey: async () => bound, find: async () => ({ request, check: null }), now: () => msIn(0) };
  const result = requestCheck(deps as unknown as RequestCheckDeps)({
    caller: { accountId: request.accountId, test: false, quota: 1, disabled: false },
    vatNumber: request.vatNumber,
    countryCode: undefined,
    requester: undefined,
    reference: undefined,
    trader: undefined,
    idempotency: { key: 'live:a', fingerprint },
  });
  await expect(result).rejects.toMatchObject({ code: 'IDEMPOTENCY_IN_PROGRESS', extra: { retry_after: 1 } });
});
