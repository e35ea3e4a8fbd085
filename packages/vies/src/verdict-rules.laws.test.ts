import {
  type CheckRequest,
  decideLookup,
  type LookupDecision,
  type LookupSubject,
  lookupOf,
  type Trader,
  type UpstreamPolicy,
  type Verdict,
  windowEnd,
} from '@vat/domain';
import { faultSize } from '@vat/testkit/fault-size';
import fc from 'fast-check';
import { readLookup } from './create-vies-client.js';
import { encodeLookup } from './wire.js';
import { type Meaning, NUMBER, type Reply, vocabulary } from './wire-vocabulary.fixture.js';

const SEQUENCES = faultSize(20_000, 1_000_000);
const T0 = new Date('2026-11-20T10:00:00.000Z').getTime();

const POLICY: UpstreamPolicy = {
  windowMs: 20_000,
  windowRetryDelaysMs: [500, 1_000, 2_000, 4_000, 8_000],
  backgroundRetryDelaysMs: [30_000, 120_000, 600_000, 1_800_000, 3_600_000],
  giveUpAfterMs: 86_400_000,
  backpressureAfterMs: 5_000,
};

type Start = { requester: string | null; trader: Trader | null };

const newRequest = ({ requester, trader }: Start): CheckRequest => ({
  id: '01939d5e-0000-7000-8000-000000000001',
  accountId: '01939d5e-0000-7000-8000-000000000002',
  accountDisabled: false,
  test: false,
  origin: 'direct',
  state: 'waiting',
  input: 'FR40303265045',
  ...NUMBER,
  vatNumber: 'FR40303265045',
  requester,
  reference: null,
  trader,
  entries: [],
  createdAt: new Date(T0),
  windowEndsAt: new Date(T0 + POLICY.windowMs),
  acceptedAt: null,
  giveUpAt: null,
  dueAt: new Date(T0),
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
});

type Lookup = { reply: Reply; lookup: LookupSubject; sent: string[]; endedAt: number; decision: LookupDecision };

/** Processes replies as a worker does: makes a lookup, decides, stores, and waits until the next lookup is due. */
const play = (start: Start, replies: readonly Reply[]): Lookup[] => {
  const lookups: Lookup[] = [];
  let request = newRequest(start);
  for (const reply of replies) {
    const startedAt = request.dueAt;
    if (request.giveUpAt !== null && request.giveUpAt <= startedAt) break; // abandoned instead
    const endedAt = new Date(startedAt.getTime() + 50);
    const lookup = lookupOf(request);
    const sent = Object.keys(JSON.parse(Buffer.from(encodeLookup(lookup)).toString()));
    const outcome = readLookup(lookup, reply.call, endedAt);
    const decision = decideLookup(request, { outcome, startedAt, endedAt, backpressure: false }, POLICY);
    lookups.push({ reply, lookup, sent, endedAt: endedAt.getTime(), decision });
    if (decision.next.kind !== 'retry') break;
    const { next, ...stored } = decision;
    request = { ...request, ...stored, dueAt: next.at };
    // The caller gets a 202 when its window has ended.
    const end = windowEnd(request, POLICY);
    if (request.state === 'waiting' && next.at >= end)
      request = {
        ...request,
        state: 'pending',
        acceptedAt: end,
        giveUpAt: new Date(end.getTime() + POLICY.giveUpAfterMs),
      };
  }
  return lookups;
};

const isAlone = ({ sent }: Lookup): boolean => sent.join() === 'countryCode,vatNumber';
const carriedRequester = ({ sent }: Lookup): boolean => sent.includes('requesterNumber');

/** The verdicts of a sequence of lookups, oldest first. */
const answersOf = (lookups: readonly Lookup[]): { verdict: Verdict; lookup: Lookup }[] =>
  lookups.flatMap((lookup): { verdict: Verdict; lookup: Lookup }[] => {
    const { means } = lookup.reply;
    if (means === 'valid' || means === 'invalid') return [{ verdict: means, lookup }];
    return means === 'refuses_input' && isAlone(lookup) ? [{ verdict: 'malformed', lookup }] : [];
  });

/** A plain check instead of `expect`, which is too slow for a million sequences. */
const holds = (law: string, held: boolean, lookups: readonly Lookup[]): void => {
  if (held) return;
  const history = lookups.map(
    ({ reply, sent, decision }) => `${reply.title} [${sent.join()}] -> ${JSON.stringify(decision.next)}`,
  );
  throw new Error(`${law}\n${history.join('\n')}`);
};

const checkLaws = (lookups: readonly Lookup[]): LookupDecision['next']['kind'] | null => {
  const last = lookups.at(-1);
  if (last === undefined) return null;
  const { decision, reply, endedAt } = last;
  const { next } = decision;
  const answers = answersOf(lookups);
  const [earlier, latest] = [answers.at(-2), answers.at(-1)];

  if (next.kind === 'settle') {
    const { verdict, consultationNumber, traderMatch } = next.answer;
    holds('a verdict is that of the last reply', latest?.lookup === last && latest.verdict === verdict, lookups);
    holds('no valid:false without two agreeing answers', verdict === 'valid' || earlier?.verdict === verdict, lookups);
    holds(
      'INVALID_INPUT is believed only of a number that was sent alone, twice in a row',
      verdict !== 'malformed' || (earlier !== undefined && isAlone(earlier.lookup) && isAlone(last)),
      lookups,
    );
    holds(
      'a consultation number belongs to a requester that was sent',
      consultationNumber === null || carriedRequester(last),
      lookups,
    );
    holds(
      'a match belongs to details that were sent',
      traderMatch === null || last.sent.some((key) => key.startsWith('trader')),
      lookups,
    );
  }
  if (next.kind === 'refuse')
    holds(
      'a requester is refused by a reply to a lookup with it',
      reply.means === 'refuses_requester' && carriedRequester(last),
      lookups,
    );
  if (next.kind === 'retry') {
    const settled =
      answers.length === 1 ? latest?.verdict === 'valid' : latest !== undefined && earlier?.verdict === latest.verdict;
    holds('what can be believed is not looked up again', !(latest?.lookup === last && settled), lookups);
    const waited = next.at.getTime() - endedAt;
    const wanted = Number(reply.call.response?.headers['retry-after'] ?? 0) * 1_000;
    holds(
      'the next lookup is not in the past, and not before Retry-After',
      waited >= Math.min(wanted, 60_000),
      lookups,
    );
  }
  const counted = decision.entries.reduce((sum, { attempts = 0 }) => sum + attempts, 0);
  holds('every lookup is counted', decision.attempts === lookups.length && counted === lookups.length, lookups);
  return next.kind;
};

const WORDS = vocabulary();
/** Weighted so that sequences end in different ways; a uniform choice would give only outages. */
const DRAW: readonly Meaning[] = [
  'valid',
  'invalid',
  'invalid',
  'invalid',
  'refuses_input',
  'refuses_input',
  'refuses_input',
  'refuses_requester',
  'nothing',
  'nothing',
  'nothing',
];

const reply: fc.Arbitrary<Reply> = fc.nat().map((n) => {
  const replies = WORDS[DRAW[n % DRAW.length] ?? 'nothing'];
  const drawn = replies[Math.floor(n / DRAW.length) % replies.length];
  if (drawn === undefined) throw new Error('a meaning without a reply');
  return drawn;
});
const start: fc.Arbitrary<Start> = fc.record({
  requester: fc.constantFrom(null, 'DE136695976'),
  trader: fc.constantFrom<Trader | null>(null, {}, { name: '' }, { name: 'Sodimas' }, { company_type: 'FR-1' }),
});

test('every reply of the vocabulary has its documented meaning for a lookup with all details', () => {
  const lookup: LookupSubject = {
    ...NUMBER,
    requester: { memberState: 'DE', national: '136695976' },
    trader: { name: 'Sodimas' },
  };
  const wrong = Object.values(WORDS).flatMap((replies) =>
    replies.filter(({ call, means }) => {
      const outcome = readLookup(lookup, call, new Date(T0));
      if (outcome.kind === 'verdict') return means !== (outcome.valid ? 'valid' : 'invalid');
      if (outcome.kind === 'rejected')
        return means !== (outcome.code === 'INVALID_INPUT' ? 'refuses_input' : 'refuses_requester');
      return means !== 'nothing';
    }),
  );
  expect(wrong.map(({ title, means }) => `${title} means ${means}`)).toEqual([]);
  expect(Object.values(WORDS).every((replies) => replies.length >= 5)).toBe(true);
  expect(Object.values(WORDS).flat().length).toBeGreaterThan(8_000);
});

test(
  `the rules of the verdict hold over ${SEQUENCES} sequences of any replies of the upstream`,
  () => {
    const ends = new Map<string, number>();
    fc.assert(
      fc.property(start, fc.array(reply, { minLength: 1, maxLength: 12 }), (from, replies) => {
        const lookups = play(from, replies);
        for (let n = 1; n < lookups.length; n += 1) checkLaws(lookups.slice(0, n));
        const end = checkLaws(lookups);
        const next = lookups.at(-1)?.decision.next;
        const name = next?.kind === 'settle' ? next.answer.verdict : String(end);
        ends.set(name, (ends.get(name) ?? 0) + 1);
      }),
      { numRuns: SEQUENCES, endOnFailure: false },
    );
    // Otherwise the rules would hold because no request ever ends.
    for (const end of ['valid', 'invalid', 'malformed', 'refuse', 'retry'])
      expect([end, (ends.get(end) ?? 0) > SEQUENCES / 200]).toEqual([end, true]);
  },
  faultSize(60_000, 3_600_000),
);

test(
  'an upstream without an answer never gives a verdict, and lookups continue until the request is abandoned',
  () => {
    const silent = WORDS.nothing;
    fc.assert(
      fc.property(start, fc.array(fc.nat(silent.length - 1), { minLength: 40, maxLength: 40 }), (from, picks) => {
        const lookups = play(
          from,
          picks.flatMap((pick) => silent[pick] ?? []),
        );
        holds(
          'no answer gives no verdict',
          lookups.every(({ decision }) => decision.next.kind === 'retry'),
          lookups,
        );
        const lastAt = lookups.at(-1)?.endedAt ?? 0;
        holds(
          'it continues until it is abandoned',
          lookups.length === 40 || lastAt > T0 + POLICY.giveUpAfterMs - 3_600_000,
          lookups,
        );
      }),
      { numRuns: faultSize(500, 20_000) },
    );
  },
  faultSize(60_000, 600_000),
);
