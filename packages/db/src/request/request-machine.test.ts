import { newUuid } from '@vat/domain';
import { faultSize, reportFigure } from '@vat/testkit';
import fc from 'fast-check';
import { pick, stateMachine } from '../commands.fixture.js';
import { testDatabase } from '../test-database.fixture.js';
import { acceptRequest } from './accept-request.js';
import { beginLookup, markLookupStarted } from './lookups.js';
import { at, end, isLive, live, type Model, pendingOf, requestModel } from './request-model.fixture.js';
import { overdueRequests, releaseOrphans, requestsToAbandon } from './sweep-requests.js';

/** Until a request ends that was never looked up; those that were end earlier. */
const NEVER_ASKED_MS = 10_000;
const ORPHANED_MS = 5_000;
const ALL = 100_000;

const connected = testDatabase(2);
const { start, admit, settle, abandon, store, verify } = requestModel(connected);

const anyIndex = fc.nat({ max: 20 });

const machine = stateMachine<Model>({
  start,
  verify,
  maxSteps: 40,
  steps: (step) => {
    step('admit', fc.constantFrom('key', 'none'), (model, key) => admit(model, key === 'key' ? newUuid() : null), 2);
    step('call again with the key of', anyIndex, async (model, n) => {
      const row = pick(
        model.rows.filter(({ key }) => key !== null),
        n,
      );
      if (row !== null) await admit(model, row.key);
    });
    step(
      'begin a lookup of',
      anyIndex,
      async (model, n) => {
        const row = pick(model.rows, n);
        if (row === null) return;
        const begun = await beginLookup(connected.db)(row.id, at(model.now));
        const isExpected = isLive(row) && !row.answered && row.dueAt <= model.now + 100;
        expect(begun?.attempts ?? null).toBe(isExpected ? row.attempts : null);
        if (begun === null) return;
        expect(begun.accountDisabled).toBe(model.disabled);
        await markLookupStarted(connected.db)(row.id, begun.attempts, at(model.now));
        row.lookedUp = true;
        model.hands.push({ row, attempts: begun.attempts });
      },
      4,
    );
    const withHand = (name: string, run: (model: Model, hand: Model['hands'][number]) => Promise<void>) =>
      step(name, anyIndex, async (model, n) => {
        const hand = pick(model.hands, n);
        if (hand === null) return;
        await run(model, hand);
        model.hands.splice(model.hands.indexOf(hand), 1);
      });
    withHand('store the answer of lookup', (model, hand) => store(model, hand, true));
    withHand('store no answer of lookup', (model, hand) => store(model, hand, false));
    withHand('settle with lookup', (model, { row, attempts }) => settle(model, row, attempts));
    withHand('crash during lookup', async () => undefined);
    step('settle the stored answer of', anyIndex, async (model, n) => {
      const row = pick(
        model.rows.filter(({ answered }) => answered),
        n,
      );
      if (row !== null) await settle(model, row);
    });
    step('accept', fc.record({ n: anyIndex, evenAnswered: fc.boolean() }), async (model, { n, evenAnswered }) => {
      const row = pick(model.rows, n);
      if (row === null) return;
      const { accountId, now, maxPending } = model;
      const giveUpAt = now + NEVER_ASKED_MS;
      const acceptance = { id: row.id, accountId, now: at(now), giveUpAt: at(giveUpAt), maxPending, evenAnswered };
      const { kind } = await acceptRequest(connected.db)(acceptance);
      const hasRoom = pendingOf(model, row) < maxPending;
      const isWaiting = row.state === 'waiting' && (!row.answered || evenAnswered);
      if (isWaiting && !hasRoom) {
        expect(kind).toBe('too_many_pending');
        end(row, 'withdrawn');
      } else if (isWaiting || (row.state === 'pending' && !row.accepted)) {
        expect(kind).toBe('accepted');
        row.giveUpAt ??= giveUpAt;
        Object.assign(row, { state: 'pending', accepted: true, dueAt: Math.min(row.dueAt, row.giveUpAt) });
      } else expect(kind).toBe('lost_race');
    });
    step('refuse', anyIndex, async (model, n) => {
      const row = pick(model.rows, n);
      if (row !== null) await abandon(model, row, 'UPSTREAM_NO_ANSWER');
    });
    step('sweep', fc.constant(null), async (model) => {
      const { now, accountId } = model;
      const ofAccount = (await requestsToAbandon(connected.db)(at(now), ALL)).filter(
        (row) => row.accountId === accountId,
      );
      const due = model.rows.filter(
        (row) => row.state === 'pending' && !row.answered && (model.disabled || (row.giveUpAt ?? now) < now),
      );
      const reasonOf = ({ lookedUp }: (typeof due)[number]) => (lookedUp ? 'UPSTREAM_NO_ANSWER' : 'NEVER_ASKED');
      const late = ofAccount.filter(({ reason }) => reason !== 'ACCOUNT_DISABLED');
      expect(new Map(late.map(({ id, reason }) => [id, reason]))).toEqual(
        new Map(due.filter(({ giveUpAt }) => (giveUpAt ?? now) < now).map((row) => [row.id, reasonOf(row)])),
      );
      expect(new Set(ofAccount.map(({ id }) => id))).toEqual(new Set(due.map(({ id }) => id)));
      for (const row of due) await abandon(model, row, model.disabled ? 'ACCOUNT_DISABLED' : 'UPSTREAM_NO_ANSWER');
      const createdBefore = now - ORPHANED_MS;
      const giveUpAt = { live: at(now + NEVER_ASKED_MS), test: at(now + NEVER_ASKED_MS) };
      await releaseOrphans(connected.db)({
        ...{ createdBefore: at(createdBefore), now: at(now), giveUpAt, maxPending: model.maxPending },
      });
      for (const row of model.rows) {
        if (row.state !== 'waiting' || row.answered || row.createdAt >= createdBefore) continue;
        if (row.key === null || pendingOf(model) >= model.maxPending) end(row, 'withdrawn');
        else Object.assign(row, { state: 'pending', giveUpAt: row.giveUpAt ?? now + NEVER_ASKED_MS });
      }
      const overdue = await overdueRequests(connected.db)(at(now), null, ALL);
      const expected = live(model).filter(({ dueAt }) => dueAt < now);
      expect(overdue.groups.flatMap(({ ids }) => ids).sort()).toEqual(expected.map(({ id }) => id).sort());
    });
    step('disable or enable the account', fc.constantFrom(true, false, false), async (model, disabled) => {
      model.disabled = disabled;
      const disabledAt = disabled ? at(model.now) : null;
      await connected.db.account.update({ where: { id: model.accountId }, data: { disabledAt } });
    });
    step('let time pass', fc.constantFrom(50, 900, 1_100, 6_000, 11_000), async (model, ms) => {
      model.now += ms;
    });
  },
  // What lives on has its end: an answer, or none within the time that is allowed.
  end: async (model) => {
    for (const row of live(model)) {
      if (row.answered) await settle(model, row);
      else await abandon(model, row, 'UPSTREAM_NO_ANSWER');
    }
    await verify(model);
    expect(live(model)).toEqual([]);
  },
});

test('law: whatever happens in whatever order, a request ends once, is charged once and is promised one event', async () => {
  const numRuns = faultSize(20, 2_000);
  await fc.assert(machine, { numRuns });
  reportFigure(`request machine: ${numRuns} runs`);
}, 1_200_000);
