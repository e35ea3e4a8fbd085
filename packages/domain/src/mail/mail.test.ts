import fc from 'fast-check';
import { newUuid } from '../ids.js';
import { decideQuotaMail, MAIL_KINDS, type PendingMail, planMail } from './mail.js';
import { type MailOutcome, sendMail } from './send-mail.js';
import { unsubscribeLinks } from './unsubscribe-link.js';

const DAY_MS = 86_400_000;

test('a month has at most two mails about the quota, in the order of 80 and 100 percent, whatever the usage does', () => {
  const usages = fc.array(fc.nat(300), { maxLength: 50 });
  fc.assert(
    fc.property(usages, fc.integer({ min: 1, max: 200 }), (taken, quota) => {
      let mailedPercent = 0;
      const sent: number[] = [];
      for (const units of taken) {
        const percent = decideQuotaMail({ taken: units, quota, mailedPercent });
        if (percent === null) continue;
        expect(units * 100).toBeGreaterThanOrEqual(quota * percent);
        sent.push(percent);
        mailedPercent = percent;
      }
      expect([[], [80], [100], [80, 100]]).toContainEqual(sent);
      const highest = Math.max(0, ...taken) / quota;
      expect(sent.length > 0).toBe(highest >= 0.8);
    }),
  );
});

test('an account that may use nothing gets no mail about its quota', () => {
  expect(decideQuotaMail({ taken: 0, quota: 0, mailedPercent: 0 })).toBeNull();
});

const MAIL: PendingMail = {
  id: newUuid(),
  kind: 'quota',
  userId: newUuid(),
  email: 'owner@example.com',
  accountId: newUuid(),
  accountName: 'Test',
  itemCount: 1,
  subjectIds: [newUuid()],
  createdAt: new Date('2026-11-23T10:00:00Z'),
  attempts: 1,
  isWanted: true,
};
const FACTS = { kind: 'quota', percent: 80, taken: 80, quota: 100, period: '2026-11' } as const;

test('a mail that cannot be sent is tried thirteen times, the waits growing to four hours, and given up within a day', () => {
  const attempts: number[] = [];
  for (let at: Date | null = MAIL.createdAt; at !== null; ) {
    attempts.push(at.getTime() - MAIL.createdAt.getTime());
    at = planMail({ attempts: attempts.length, createdAt: MAIL.createdAt }, at);
  }
  expect(attempts).toHaveLength(13);
  const waits = attempts.slice(1).map((at, n) => at - (attempts[n] ?? 0));
  expect(waits).toEqual(waits.toSorted((one, other) => one - other));
  expect(waits.at(-1)).toBe(4 * 3_600_000);
  expect(attempts.at(-1)).toBeLessThanOrEqual(DAY_MS);
  expect(attempts.at(-1)).toBeGreaterThan(DAY_MS - 4 * 3_600_000);
});

/** One run of the job: its steps in order, its outcome and when it runs again. */
const run = async (
  mail: PendingMail,
  {
    send,
    abort = new AbortController().signal,
    failures = 0,
  }: { send: () => Promise<void>; abort?: AbortSignal; failures?: number },
) => {
  const steps: string[] = [];
  const outcomes: MailOutcome[] = [];
  let left = failures;
  const note = (step: string) => async (): Promise<void> => void steps.push(step);
  const again = await sendMail({
    claim: async () => ({ kind: 'claimed', mail }),
    readFacts: async () => FACTS,
    send: async () => {
      steps.push('send');
      await send();
    },
    record: async (_mail, outcome) => {
      if (left > 0) {
        left -= 1;
        throw new Error('Postgres is away');
      }
      steps.push(outcome.state);
      outcomes.push(outcome);
    },
    release: note('release'),
    discard: note('discard'),
    reasonOf: String,
    onAttempted: () => undefined,
    pause: note('pause'),
    now: () => MAIL.createdAt,
  })(mail.id, abort);
  return { steps, outcome: outcomes[0], again };
};

test('a sent mail ends, also when it can be recorded only later: it is not sent again meanwhile', async () => {
  expect(await run(MAIL, { send: async () => undefined, failures: 2 })).toEqual({
    steps: ['send', 'pause', 'pause', 'sent'],
    outcome: { state: 'sent', at: MAIL.createdAt },
    again: null,
  });
});

test('a failure is recorded with its reason, and the job runs again when the next attempt is due', async () => {
  const nextAttemptAt = new Date(MAIL.createdAt.getTime() + 5_000);
  const refused = () => Promise.reject('REFUSED');
  expect(await run(MAIL, { send: refused })).toEqual({
    steps: ['send', 'pending'],
    outcome: { state: 'pending', nextAttemptAt, error: 'REFUSED' },
    again: nextAttemptAt,
  });
  const old = { ...MAIL, createdAt: new Date(MAIL.createdAt.getTime() - DAY_MS) };
  expect(await run(old, { send: refused })).toMatchObject({
    outcome: { state: 'failed', error: 'REFUSED' },
    again: null,
  });
});

test('an attempt that a stopping worker breaks off does not count', async () => {
  const stop = new AbortController();
  const broken = async () => {
    stop.abort();
    throw new Error('aborted');
  };
  expect(await run(MAIL, { send: broken, abort: stop.signal })).toEqual({
    steps: ['send', 'release'],
    outcome: undefined,
    again: MAIL.createdAt,
  });
});

test('a mail of a kind that the user has turned off meanwhile is not sent', async () => {
  const { steps, again } = await run({ ...MAIL, isWanted: false }, { send: async () => undefined });
  expect([steps, again]).toEqual([['discard'], null]);
});

test('an unsubscribe link names one user and one kind; any change of it makes it invalid', async () => {
  const links = unsubscribeLinks(async () => Buffer.alloc(32, 7));
  const others = unsubscribeLinks(async () => Buffer.alloc(32, 8));
  for (const kind of MAIL_KINDS) {
    const userId = newUuid();
    const path = await links.pathOf({ userId, kind });
    expect(path).toMatch(/^\/unsubscribe\/usr_[0-9a-z]{26}\.[a-z_]+\.[A-Za-z0-9_-]{24}$/);
    const link = path.slice('/unsubscribe/'.length);
    expect(await links.read(link)).toEqual({ userId, kind });
    expect(await others.read(link)).toBeNull();
    const stolen = (await links.pathOf({ userId: newUuid(), kind })).slice('/unsubscribe/'.length);
    expect(
      await links.read(`${link.slice(0, link.lastIndexOf('.'))}${stolen.slice(stolen.lastIndexOf('.'))}`),
    ).toBeNull();
    for (const other of MAIL_KINDS.filter((one) => one !== kind))
      expect(await links.read(link.replace(kind, other))).toBeNull();
    for (const broken of ['', link.slice(1), `${link}A`, link.slice(0, -1), `${link}.json`, link.toUpperCase()])
      expect(await links.read(broken)).toBeNull();
  }
});
