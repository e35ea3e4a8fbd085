import { randomUUID } from 'node:crypto';
import { type DispatchedLine, LINES_IN_WINDOW, MAX_DISPATCHED, type MemberState, newUuid } from '@vat/domain';
import fc from 'fast-check';
import { testDatabase } from '../test-database.fixture.js';
import { dispatchLines, queuesToDispatch } from './dispatch-lines.js';

const connected = testDatabase(10);
beforeEach(async () => {
  await connected.db.$executeRaw`TRUNCATE request`;
  await connected.db.$executeRaw`TRUNCATE batch CASCADE`;
});

const AT = new Date('2026-11-20T10:00:00.000Z');
const LATER = new Date(AT.getTime() + 1_000);
const ANSWER = JSON.stringify({ verdict: 'valid' });

type Waiting = { accountId: string; memberState?: MemberState; dueAt?: Date; dispatched?: boolean; answered?: boolean };

/** Inserts requests as an upload does; returns their ids in file order. */
const insert = async (count: number, row: Waiting): Promise<string[]> => {
  const ids = Array.from({ length: count }, newUuid);
  await connected.db.$executeRaw`
    INSERT INTO request (id, account_id, test, origin, fed, state, input, country_code, national, vat_number, entries,
      created_at, window_ends_at, due_at, answer)
    SELECT id, ${row.accountId}::uuid, false, 'batch', ${row.dispatched ?? false}, 'pending', '', ${row.memberState ?? 'DE'}, '',
      '', '[]', ${AT}::timestamptz, ${AT}::timestamptz, ${row.dueAt ?? AT}::timestamptz,
      ${row.answered ? ANSWER : null}::jsonb
    FROM unnest(${ids}::uuid[]) AS id`;
  return ids;
};
const dispatch = async (memberState: MemberState = 'DE'): Promise<DispatchedLine[]> =>
  (await dispatchLines(connected.db)(memberState, LATER)) ?? [];
const inWindow = async (): Promise<number> => {
  const [row] = await connected.db.$queryRaw<{ n: number }[]>`
    SELECT count(*)::int AS n FROM request WHERE fed AND state = 'pending' AND answer IS NULL`;
  return row?.n ?? 0;
};

test('a window takes the first lines of a file in order, and no more once it is full', async () => {
  const accountId = randomUUID();
  const lines = await insert(30, { accountId });
  await insert(5, { accountId: randomUUID(), memberState: 'FR' });
  expect(await dispatch()).toEqual(lines.slice(0, LINES_IN_WINDOW).map((id, n) => ({ id, accountId, rank: n + 1 })));
  expect(await dispatch()).toEqual([]);
  await connected.db.request.updateMany({ where: { id: { in: lines.slice(0, 4) } }, data: { state: 'abandoned' } });
  const behind = LINES_IN_WINDOW - 4;
  expect(await dispatch()).toEqual(
    lines.slice(LINES_IN_WINDOW, LINES_IN_WINDOW + 4).map((id, n) => ({ id, accountId, rank: behind + n + 1 })),
  );
});

test('a window is never overfull, and accounts take turns, however the lines are distributed', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ inside: fc.nat(6), waiting: fc.nat(20) }), { minLength: 1, maxLength: 6 }),
      async (accounts) => {
        await connected.db.$executeRaw`TRUNCATE request`;
        const owners = new Map<string, number>();
        for (const [n, { inside, waiting }] of accounts.entries()) {
          const accountId = randomUUID();
          await insert(inside, { accountId, dispatched: true });
          for (const id of await insert(waiting, { accountId })) owners.set(id, n);
        }
        const before = await inWindow();
        const dispatched = await dispatch();
        expect(dispatched).toHaveLength(
          Math.min(
            Math.max(0, LINES_IN_WINDOW - before),
            accounts.reduce((sum, { waiting }) => sum + waiting, 0),
          ),
        );
        const got = accounts.map((_, n) => dispatched.filter(({ id }) => owners.get(id) === n));
        for (const [n, { inside, waiting }] of accounts.entries()) {
          const ranks = got[n]?.map(({ rank }) => rank) ?? [];
          expect(ranks).toEqual(ranks.map((_, place) => inside + place + 1));
          // An account with waiting lines has at least `rank - 1` lines in the window, for every dispatched rank.
          if (ranks.length < waiting)
            for (const { rank } of dispatched) expect(inside + ranks.length).toBeGreaterThanOrEqual(rank - 1);
        }
      },
    ),
    { numRuns: 60 },
  );
});

test('concurrent dispatches of one member state do not overfill its window', async () => {
  await insert(200, { accountId: randomUUID() });
  for (let round = 0; round < 10; round += 1) {
    await Promise.all(Array.from({ length: 6 }, () => dispatch()));
    expect(await inWindow()).toBe(LINES_IN_WINDOW);
    await connected.db.request.updateMany({
      where: { dispatched: true, state: 'pending' },
      data: { state: 'abandoned' },
    });
  }
});

test('a line that waits for its next lookup is not dispatched before it is due', async () => {
  const accountId = randomUUID();
  await insert(3, { accountId, dueAt: new Date(LATER.getTime() + 1) });
  const [due] = await insert(1, { accountId });
  expect(await dispatch()).toEqual([{ id: due, accountId, rank: 1 }]);
});

test('lines whose answer is being enriched make room for others, up to a limit', async () => {
  const accountId = randomUUID();
  await insert(MAX_DISPATCHED - 2, { accountId, dispatched: true, answered: true });
  await insert(20, { accountId });
  expect((await dispatch()).map(({ rank }) => rank)).toEqual([1, 2]);
});

test('a queue is dispatched when it has waiting lines and its window runs low', async () => {
  const accountId = randomUUID();
  const queues = () => queuesToDispatch(connected.db)(['DE', 'FR', 'malformed']);
  expect(await queues()).toEqual([]);
  await connected.db.batch.create({ data: { id: newUuid(), accountId, state: 'running', total: 41, createdAt: AT } });
  await insert(40, { accountId });
  await insert(1, { accountId, memberState: 'IT', answered: true });
  expect(await queues()).toEqual(['DE', 'malformed']);
  await dispatch();
  expect(await queues()).toEqual(['malformed']);
});

test('a batch is running once its first line is dispatched', async () => {
  const accountId = randomUUID();
  const batchIds = [newUuid(), newUuid()];
  const requests = await insert(2, { accountId });
  const [elsewhere] = await insert(1, { accountId, memberState: 'FR' });
  for (const [n, requestId] of [requests[0], elsewhere].entries())
    await connected.db.batch.create({
      data: {
        id: batchIds[n] ?? '',
        accountId,
        state: 'queued',
        total: 1,
        createdAt: AT,
        lines: {
          create: { id: newUuid(), line: 1, status: 'queued', input: '', requestId: requestId ?? null, cells: [] },
        },
      },
    });
  await dispatch();
  const states = await connected.db.batch.findMany({ where: { accountId }, orderBy: { id: 'asc' } });
  expect(states.map(({ state }) => state)).toEqual(['running', 'queued']);
});
