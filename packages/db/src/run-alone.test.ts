import { openTcpProxy, until } from '@vat/testkit';
import { connectDatabase, type Database, pingDatabase } from './connect-database.js';
import { closeAlone } from './evidence/close-alone.js';
import { runAlone } from './run-alone.js';
import { testDatabase } from './test-database.fixture.js';

const one = testDatabase(4);
/** The least DATABASE_CONNECTIONS. */
const small = testDatabase(8);

/** Starts the work of a task. It ends when `end` or `fail` is called. */
const start = async (
  task: Parameters<ReturnType<typeof runAlone>>[0],
  { db }: { db: Database } = one,
  silence?: Parameters<typeof runAlone>[1],
) => {
  let work: { end: () => void; fail: () => void } | undefined;
  const result = runAlone(db, silence)(
    task,
    () =>
      new Promise<string>((resolve, reject) => {
        work = { end: () => resolve('ended'), fail: () => reject(new Error('failed')) };
      }),
  );
  return { result, ...(await until('it to begin', () => work)) };
};

test('a task that is under way is not run a second time, and others are', async () => {
  const alone = runAlone(one.db);
  const sweep = await start('sweep');
  expect(await alone('sweep', async () => 'second')).toBeNull();
  expect(await alone('expire', async () => 'other')).toEqual({ done: 'other' });
  sweep.end();
  expect(await sweep.result).toEqual({ done: 'ended' });
  expect(await alone('sweep', async () => 'next')).toEqual({ done: 'next' });
});

test('work that waits begins when the task under way has ended, also when that failed', async () => {
  const alone = runAlone(one.db);
  const first = await start('audit');
  const waiting = alone('audit', async () => 'second', 10_000);
  first.fail();
  await expect(first.result).rejects.toThrow('failed');
  expect(await waiting).toEqual({ done: 'second' });
});

test('the lock of a process whose connection ends is free at once', async () => {
  const alone = runAlone(one.db);
  const lost = await start('sweep');
  await one.db.$executeRaw`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'idle in transaction'`;
  expect(await alone('sweep', async () => 'next', 10_000)).toEqual({ done: 'next' });
  lost.end();
  await expect(lost.result).rejects.toThrow();
});

test('a process that stands still loses its task to another one, and one that works does not', async () => {
  const proxy = await openTcpProxy({ to: new URL(one.url).host });
  const distant = connectDatabase({
    ...{ url: proxy.through(one.url), applicationName: 'distant', connectTimeoutMs: 5_000, queryTimeoutMs: 1_000 },
    maxConnections: 1,
  });
  try {
    const alone = runAlone(one.db);
    const slow = await start('sweep', distant, { endMs: 1_000, heartbeatMs: 200 });
    expect(await alone('sweep', async () => 'second', 2_500)).toBeNull();
    proxy.freeze();
    expect(await alone('sweep', async () => 'second', 10_000)).toEqual({ done: 'second' });
    proxy.thaw();
    slow.end();
    await expect(slow.result).rejects.toThrow();
  } finally {
    await distant.close();
    await proxy.close();
  }
});

test('a task that is under way holds back no vacuum', async () => {
  const sweep = await start('sweep');
  const rows = await one.db.$queryRaw<{ held: number }[]>`
    SELECT count(*)::int AS held FROM pg_stat_activity
    WHERE datname = current_database() AND state = 'idle in transaction'
      AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)`;
  expect(rows).toEqual([{ held: 0 }]);
  sweep.end();
  await sweep.result;
});

test('with the least connections every task of a worker runs at once, and statements find a connection', async () => {
  const tasks = await Promise.all(
    (['sweep', 'expire', 'audit', 'months', 'mail'] as const).map((task) => start(task, small)),
  );
  const everything = runAlone(small.db)('sweep', async () => 'after a loss of Redis', 10_000);
  let endClosing: (() => void) | undefined;
  const closing = closeAlone(small.db)(() => new Promise<void>((resolve) => (endClosing = resolve)));
  await until('the anchor to be closed', () => endClosing);
  await pingDatabase(small.db)();
  endClosing?.();
  for (const { end, result } of tasks) {
    end();
    await result;
  }
  expect([await everything, await closing]).toEqual([{ done: 'after a loss of Redis' }, { done: undefined }]);
});
