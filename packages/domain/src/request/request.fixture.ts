import fc from 'fast-check';
import type { LookupOutcome } from '../check/upstream.js';
import type { CheckRequest, UpstreamPolicy } from './request.js';

/** The time of all fixtures. */
const T0 = new Date('2026-11-20T10:00:00.000Z');

/** A time `ms` after {@link T0}. */
export const msIn = (ms: number): Date => new Date(T0.getTime() + ms);

/** The defaults of the settings. */
export const POLICY: UpstreamPolicy = {
  windowMs: 20_000,
  windowRetryDelaysMs: [500, 1_000, 2_000, 4_000, 8_000],
  backgroundRetryDelaysMs: [30_000, 120_000, 600_000, 1_800_000, 3_600_000],
  giveUpAfterMs: 86_400_000,
  backpressureAfterMs: 5_000,
};

/** A request that was just admitted. */
export const newRequest = (over: Partial<CheckRequest> = {}): CheckRequest => ({
  id: '01939d5e-0000-7000-8000-000000000001',
  accountId: '01939d5e-0000-7000-8000-000000000002',
  accountDisabled: false,
  test: false,
  origin: 'direct',
  state: 'waiting',
  input: 'FR40303265045',
  memberState: 'FR',
  national: '40303265045',
  vatNumber: 'FR40303265045',
  requester: null,
  reference: null,
  trader: null,
  entries: [],
  createdAt: T0,
  windowEndsAt: msIn(POLICY.windowMs),
  acceptedAt: null,
  giveUpAt: null,
  dueAt: T0,
  lookupStartedAt: null,
  attempts: 0,
  windowRetries: 0,
  backgroundRetries: 0,
  lastError: null,
  reason: null,
  unconfirmed: null,
  unconfirmedAt: null,
  numberAlone: false,
  answer: null,
  checkId: null,
  ...over,
});

/** A verdict of the upstream. */
export const verdict = (valid: boolean): LookupOutcome => ({
  kind: 'verdict',
  valid,
  name: valid ? 'ACME' : null,
  address: null,
  consultationNumber: null,
  traderMatch: null,
});

/** No answer of some kind. */
export const silence = (
  outcome: 'saturated' | 'unavailable' | 'timeout' | 'blocked',
  code: string | null = outcome === 'saturated' ? 'MS_MAX_CONCURRENT_REQ' : null,
): LookupOutcome => ({
  kind: 'no_answer',
  outcome,
  code,
  scope: outcome === 'saturated' ? 'member_state' : null,
  detail: null,
});

/** Any outcome of a lookup. */
export const anyOutcome = (): fc.Arbitrary<LookupOutcome> =>
  fc.oneof(
    fc.boolean().map(verdict),
    fc.constantFrom(
      silence('saturated'),
      silence('unavailable', 'MS_UNAVAILABLE'),
      silence('timeout'),
      silence('blocked', 'IP_BLOCKED'),
    ),
    fc.constantFrom<LookupOutcome>(
      { kind: 'rejected', code: 'INVALID_INPUT' },
      { kind: 'rejected', code: 'INVALID_REQUESTER_INFO' },
    ),
  );
