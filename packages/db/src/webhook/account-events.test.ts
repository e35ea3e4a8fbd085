import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type AccountEvent, type EventType, newUuid } from '@vat/domain';
import { cloneDatabase, until } from '@vat/testkit';
import fc from 'fast-check';
import pg from 'pg';
import { restoreBackup } from '../backup/restore-backup.js';
import { writeBackup } from '../backup/write-backup.js';
import type { Database } from '../connect-database.js';
import { connectTo, testDatabase } from '../test-database.fixture.js';
import { idAt } from '../uuid-bounds.js';
import { findEvent, findEventPosition, findNewestPositions, listEvents, listEventsAfter } from './account-events.js';

const MIGRATIONS = path.resolve(import.meta.dirname, '../../../../prisma/migrations');

const database = testDatabase(2);
let db: Database;
beforeAll(() => {
  ({ db } = database);
});

/** Opened during a test, closed after it. */
const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

type TestEvent = { id: string; accountId: string; type: EventType; test: boolean };
const eventOf = (accountId: string, event: Partial<TestEvent> = {}): TestEvent => ({
  ...{ id: newUuid(), accountId, type: 'webhook.test', test: false },
  ...event,
});
const INSERT = `INSERT INTO event (id, account_id, type, subject_id, body, test, created_at)
  VALUES ($1::uuid, $2::uuid, $3, $1::uuid, '{}', $4, now())`;
const valuesOf = ({ id, accountId, type, test: isTest }: TestEvent) => [id, accountId, type, isTest];

/** Inserts events one after the other, each in its own transaction, and returns their ids. */
const insertEvents = async (...events: TestEvent[]): Promise<string[]> => {
  for (const event of events) await db.$executeRawUnsafe(INSERT, ...valuesOf(event));
  return events.map(({ id }) => id);
};
const idsOf = (events: readonly AccountEvent[]): string[] => events.map(({ id }) => id);
const readerOf = (accountId: string, testOnly = false) => ({ accountId, testOnly });

/** Follows the events of an account, at most two at a time. `take` reads all that there are and returns all that it ever read. */
const follow = (database: Database, accountId: string, begin: string | null = null) => {
  const seen: string[] = [];
  let after = begin;
  return async (): Promise<string[]> => {
    for (;;) {
      const found = await findEventPosition(database)(after, readerOf(accountId));
      if (found === null) throw new Error('the last event is not stored');
      const page = await listEventsAfter(database)(readerOf(accountId), undefined, found.after, 2);
      if (page.length === 0) return seen;
      seen.push(...idsOf(page));
      after = page.at(-1)?.id ?? after;
    }
  };
};

/** A connection that writes events in transactions of its own, which stay open until they are ended. */
type Writer = {
  /** Begins a transaction and inserts an event, or waits for another transaction to do so. */
  begin: (event: TestEvent) => void;
  state: () => 'idle' | 'inserting' | 'open';
  /** Ends the transaction; returns the event that it wrote. */
  end: (how: 'COMMIT' | 'ROLLBACK') => Promise<TestEvent>;
};
const openWriter = async (): Promise<Writer> => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  open.push(() => client.end());
  let state: 'idle' | 'inserting' | 'open' = 'idle';
  let written: TestEvent | undefined;
  return {
    begin: (event) => {
      state = 'inserting';
      written = event;
      void client.query('BEGIN');
      void client.query(INSERT, valuesOf(event)).then(() => {
        state = 'open';
      });
    },
    state: () => state,
    end: async (how) => {
      await client.query(how);
      state = 'idle';
      if (!written) throw new Error('no transaction was begun');
      return written;
    },
  };
};

/** Waits until every insert has been made or waits for another transaction. */
const settle = (writers: readonly Writer[]) =>
  until('the inserts to end or to wait', async () => {
    const [row] = await db.$queryRaw<{ waiting: number }[]>`
      SELECT count(*)::int AS waiting FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE 'INSERT INTO event%' AND cardinality(pg_blocking_pids(pid)) > 0`;
    return writers.filter((writer) => writer.state() === 'inserting').length === row?.waiting;
  });

describe('a follower', () => {
  test('sees events in the order of commits, whatever the order of ids and however long a transaction stays open', async () => {
    const [account, other] = [newUuid(), newUuid()];
    const take = follow(db, account);
    const [first, second, third] = [await openWriter(), await openWriter(), await openWriter()];
    const writers = [first, second, third];
    const [a, b, c] = [eventOf(account), eventOf(account), eventOf(other)];
    // The id of an earlier time: its process was slow, or its clock is behind.
    const late = eventOf(account, { id: `${idAt(new Date(Date.now() - 60_000)).slice(0, 14)}${newUuid().slice(14)}` });

    first.begin(a);
    await settle(writers);
    second.begin(b);
    third.begin(c);
    await settle(writers);
    expect(writers.map((writer) => writer.state())).toEqual(['open', 'inserting', 'open']);
    await third.end('COMMIT');
    // Another account is not held up.
    expect(await follow(db, other)()).toEqual([c.id]);
    expect(await take()).toEqual([]);

    await first.end('COMMIT');
    await settle(writers);
    expect(await take()).toEqual([a.id]);
    first.begin(late);
    await settle(writers);
    await second.end('ROLLBACK');
    await settle(writers);
    expect(await take()).toEqual([a.id]);
    await first.end('COMMIT');
    expect(await take()).toEqual([a.id, late.id]);
  });

  test('misses none and sees none twice, in any interleaving of transactions', async () => {
    const step = fc.record({
      writer: fc.nat(3),
      account: fc.nat(1),
      commits: fc.integer({ min: 0, max: 3 }),
      reads: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 15, maxLength: 25 }), async (steps) => {
        const writers = await Promise.all([1, 2, 3, 4].map(openWriter));
        const accounts = [newUuid(), newUuid()];
        const committed = accounts.map((): string[] => []);
        const takes = accounts.map((account) => follow(db, account));
        const end = async (writer: Writer, how: 'COMMIT' | 'ROLLBACK') => {
          const { id, accountId } = await writer.end(how);
          if (how === 'COMMIT') committed[accounts.indexOf(accountId)]?.push(id);
          await settle(writers);
        };
        for (const { writer: n, account, commits, reads } of steps) {
          const writer = writers[n];
          if (writer?.state() === 'idle') {
            writer.begin(eventOf(accounts[account] ?? ''));
            await settle(writers);
          } else if (writer?.state() === 'open') await end(writer, commits === 0 ? 'ROLLBACK' : 'COMMIT');
          if (reads) for (const [at, take] of takes.entries()) expect(await take()).toEqual(committed[at]);
        }
        // Each round ends the transactions that are open, so that those which wait for them become open.
        for (const _round of writers)
          for (const writer of writers) if (writer.state() === 'open') await end(writer, 'COMMIT');
        expect(writers.map((writer) => writer.state())).toEqual(writers.map(() => 'idle'));
        for (const [at, take] of takes.entries()) expect(await take()).toEqual(committed[at]);
      }),
      { numRuns: 12, seed: 32 },
    );
  });

  test('begins with the events from before positions, in the order of their ids', async () => {
    const account = newUuid();
    const ids = await insertEvents(...Array.from({ length: 5 }, () => eventOf(account)));
    await db.$executeRaw`UPDATE event SET position = 0 WHERE id = ANY(${ids}::uuid[])`;
    await db.$executeRaw`DELETE FROM newest_event WHERE account_id = ${account}::uuid`;
    expect(await follow(db, account)()).toEqual(ids);
    const later = await insertEvents(eventOf(account), eventOf(account));
    expect(await follow(db, account)()).toEqual([...ids, ...later]);
    expect(await follow(db, account, ids[1])()).toEqual([...ids.slice(2), ...later]);
  });

  test('continues in a restored backup', async () => {
    const account = newUuid();
    const ids = await insertEvents(...Array.from({ length: 4 }, () => eventOf(account)));
    await db.$executeRaw`UPDATE event SET position = 0 WHERE id = ${ids[0]}::uuid`;
    const folder = await mkdtemp(path.join(tmpdir(), 'vat-events-'));
    open.push(() => rm(folder, { recursive: true }));
    await writeBackup(database.url, path.join(folder, 'backup'), () => new Date());
    const lost = await insertEvents(eventOf(account));
    const target = await cloneDatabase();
    open.push(target.drop);
    await restoreBackup(target.url, path.join(folder, 'backup'), MIGRATIONS);
    const restored = connectTo(target.url, 2);
    open.push(restored.close);
    const positionsIn = (of: Database) =>
      of.$queryRaw<
        unknown[]
      >`SELECT id, position::int AS position FROM event WHERE id <> ALL(${lost}::uuid[]) ORDER BY id`;
    expect(await positionsIn(restored.db)).toEqual(await positionsIn(db));
    const take = follow(restored.db, account, ids[1]);
    expect(await take()).toEqual(ids.slice(2));
    const next = eventOf(account);
    await restored.db.$executeRawUnsafe(INSERT, ...valuesOf(next));
    expect(await take()).toEqual([...ids.slice(2), next.id]);
    // What was written after the backup has no place in the order.
    expect(await findEventPosition(restored.db)(lost[0] ?? '', readerOf(account))).toBeNull();
  });

  test('continues after an event that has expired while it was the newest, and after no other', async () => {
    const account = newUuid();
    const [first = '', second = '', third = ''] = await insertEvents(
      ...Array.from({ length: 3 }, () => eventOf(account)),
    );
    await db.$executeRaw`DELETE FROM event WHERE account_id = ${account}::uuid`;
    const find = findEventPosition(db);
    expect(await find(second, readerOf(account))).toBeNull();
    expect(await find(third, readerOf(account, true))).toBeNull();
    expect(await find(first, readerOf(newUuid()))).toBeNull();
    const next = await insertEvents(eventOf(account));
    expect(await find(third, readerOf(account))).toBeNull();
    expect(await follow(db, account)()).toEqual(next);
    const [newest = ''] = next;
    await db.$executeRaw`DELETE FROM event WHERE account_id = ${account}::uuid`;
    expect(await find(newest, readerOf(account))).toEqual({ after: { position: '4', id: newest }, newest: '4' });
  });
});

test('a page has the events of the reader and of the type alone, newest first or in the order of positions', async () => {
  const account = newUuid();
  const events = Array.from({ length: 12 }, (_, n) =>
    eventOf(account, { type: n % 3 === 0 ? 'check.failed' : 'batch.completed', test: n % 4 === 0 }),
  );
  await insertEvents(...events, eventOf(newUuid()));
  const start = { position: '0', id: '00000000-0000-0000-0000-000000000000' };
  for (const testOnly of [false, true])
    for (const type of [undefined, 'check.failed', 'batch.completed', 'watch.changed'] as const) {
      const expected = events.filter((event) => (type ?? event.type) === event.type && (event.test || !testOnly));
      const ids = expected.map(({ id }) => id);
      const reader = readerOf(account, testOnly);
      expect(idsOf(await listEventsAfter(db)(reader, type, start, 100))).toEqual(ids);
      expect(idsOf(await listEvents(db)(reader, { type }, null, 100))).toEqual(ids.toReversed());
      expect(idsOf(await listEvents(db)(reader, { type }, ids.at(-1) ?? null, 2))).toEqual(
        ids.toReversed().slice(1, 3),
      );
    }
  expect(await findEvent(db)(events[1]?.id ?? '', readerOf(account))).toMatchObject({ type: 'batch.completed' });
  expect(await findEvent(db)(events[1]?.id ?? '', readerOf(account, true))).toBeNull();
  expect(await findNewestPositions(db)([account, newUuid()])).toEqual([{ accountId: account, position: '12' }]);
});

test('events of earlier months are listed and followed', async () => {
  const account = newUuid();
  const idOf = (monthsAgo: number) => {
    const at = new Date();
    at.setUTCDate(15);
    at.setUTCMonth(at.getUTCMonth() - monthsAgo);
    return { at, id: `${idAt(at).slice(0, 14)}${newUuid().slice(14)}` };
  };
  const made = [9, 5, 2, 1].map(idOf);
  for (const { at, id } of made) {
    await insertEvents(eventOf(account, { id }));
    await db.$executeRaw`UPDATE event SET created_at = ${at}::timestamptz WHERE id = ${id}::uuid`;
  }
  const ids = made.map(({ id }) => id);
  const list = listEvents(db);
  expect(idsOf(await list(readerOf(account), {}, null, 3))).toEqual(ids.toReversed().slice(0, 3));
  expect(idsOf(await list(readerOf(account), {}, ids[1] ?? null, 3))).toEqual([ids[0]]);
  const [from, to] = [made[1]?.at, made[2]?.at];
  expect(idsOf(await list(readerOf(account), { from, to }, null, 3))).toEqual([ids[1]]);
  expect(await follow(db, account, ids[0])()).toEqual(ids.slice(1));
});

test('the migrations index every partition of events', async () => {
  const invalid = await db.$queryRaw`
    SELECT indexrelid::regclass::text AS index FROM pg_index WHERE indrelid = 'event'::regclass AND NOT indisvalid`;
  expect(invalid).toEqual([]);
});
