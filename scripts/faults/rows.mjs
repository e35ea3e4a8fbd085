// @ts-check

/**
 * A fault or an attack that the service survives. `tests`: the files that show it, each whole or only its tests whose title
 * contains a text.
 *
 * @typedef {{ number: number, fault: string, passes: string, tests: readonly (string | readonly [string, string])[] }} FaultRow
 */

const NETWORK = 'apps/worker/src/network-faults.test.ts';
const CRASH = 'apps/worker/src/crash.test.ts';
const BATCHES_CRASH = 'apps/worker/src/batches-crash.test.ts';
const WATCHES_CRASH = 'apps/worker/src/watches-crash.test.ts';
const SWEEP = 'apps/worker/src/sweep.test.ts';
const DEAD_WORKER = 'apps/worker/src/dead-worker.test.ts';
const REQUEST_MACHINE = 'packages/db/src/request/request-machine.test.ts';
const CAP = 'apps/worker/src/cap.test.ts';
const DELIVERY_MACHINE = 'packages/db/src/webhook/delivery-machine.test.ts';
const VERDICT_LAWS = 'packages/vies/src/verdict-rules.laws.test.ts';
const BACKUP = 'apps/admin/src/backup.test.ts';
const SETTLE_RACE = 'apps/worker/src/settle-race.test.ts';
const PLANS = 'scripts/check/statement-plans.test.ts';

/**
 * Long files whose bounds are minutes, or that compare no times, so that two of them run at once. Those of the first group write
 * millions of rows, for which the statements of other tests would wait beyond their deadlines.
 */
export const UNTIMED = [
  [BACKUP, PLANS],
  [CRASH, BATCHES_CRASH, WATCHES_CRASH, REQUEST_MACHINE, DELIVERY_MACHINE, VERDICT_LAWS, SETTLE_RACE],
];

/** @type {readonly FaultRow[]} */
export const FAULT_ROWS = [
  {
    number: 1,
    fault: 'API and worker processes are killed at random',
    passes: 'nothing that was accepted is lost, each request ends once, every 202 has one event',
    tests: [CRASH, BATCHES_CRASH, WATCHES_CRASH, REQUEST_MACHINE, DELIVERY_MACHINE],
  },
  {
    number: 2,
    fault: 'the same, and answers that race with the end of the window',
    passes: 'units consumed are checks answered, nothing stays reserved',
    tests: [CRASH, SETTLE_RACE, 'packages/db/src/request/request-race.test.ts'],
  },
  {
    number: 3,
    fault: 'a crash between any two steps of commit, enqueue, lookup and record',
    passes: 'what was accepted ends within a minute',
    tests: [SWEEP, REQUEST_MACHINE, ['apps/api/src/idempotency.test.ts', 'process is killed']],
  },
  {
    number: 4,
    fault: 'Redis loses its data, or restarts without it',
    passes: 'all is enqueued again within a minute, at most two lookups of a member state at a time',
    tests: [
      [SWEEP, 'after a loss of Redis'],
      [CAP, 'a loss of Redis'],
      [WATCHES_CRASH, 'a loss of Redis'],
      ['apps/worker/src/redis-away.test.ts', 'Redis comes back empty'],
      'apps/worker/src/redis-failover.test.ts',
    ],
  },
  {
    number: 5,
    fault: 'the worker that holds both slots of a member state is killed',
    passes: 'that member state continues within 20 s',
    tests: [[DEAD_WORKER, 'continues within 20 s']],
  },
  {
    number: 6,
    fault: 'a worker stalls for three times as long as its lock, between any two steps of a lookup',
    passes: 'others get its slots; at most two lookups at a time; one result, one unit, one event',
    tests: [[DEAD_WORKER, 'stalls for longer than its lock']],
  },
  {
    number: 7,
    fault: 'Redis is killed, suspended, or unreachable for a minute',
    passes: 'every call is answered within 2 s of its window, no process ends, workers resume within 15 s',
    tests: ['apps/worker/src/redis-away.test.ts', NETWORK, 'apps/api/src/rate-limit-alone.test.ts'],
  },
  {
    number: 8,
    fault: 'Postgres is killed, suspended, or unreachable for a minute',
    passes: '500 within 2 s, never a promise without a row, no answer lost',
    tests: ['apps/worker/src/postgres-away.test.ts', NETWORK],
  },
  {
    number: 9,
    fault: 'the upstream hangs, drips, resets, or answers errors and nonsense',
    passes: '202 at the end of the window, nothing consumed, never a wrong verdict, finished later',
    tests: ['apps/api/src/waiting.test.ts', 'packages/vies/src/create-vies-client.test.ts', VERDICT_LAWS, NETWORK],
  },
  {
    number: 10,
    fault: 'a hundred identical calls at once with one Idempotency-Key, then another body',
    passes: 'one check and one unit; the rest get the same answer, 409 or 422',
    tests: ['apps/api/src/idempotency.test.ts'],
  },
  {
    number: 11,
    fault: 'webhook URLs and names that lead to addresses inside the network',
    passes: 'no connection to a forbidden address, each refusal has its code',
    tests: [
      'packages/webhooks/src/create-webhook-sender.address-rule.test.ts',
      'packages/webhooks/src/validate-address.test.ts',
      'packages/webhooks/src/validate-url.test.ts',
      'apps/api/src/dashboard/webhook-settings.test.ts',
    ],
  },
  {
    number: 12,
    fault: 'receivers that send without end, compress, drip or hang; a thousand dead endpoints',
    passes: 'each attempt ends at its time-out, little memory, other endpoints are not delayed',
    tests: [
      'packages/webhooks/src/create-webhook-sender.hostile.test.ts',
      'apps/worker/src/delivery-isolation.test.ts',
    ],
  },
  {
    number: 13,
    fault: 'calls over the rate limit, over several processes and at the edges of seconds',
    passes: 'at most the limit in any second; a steady rate at the limit is never refused',
    tests: ['apps/api/src/rate-limit.test.ts', 'packages/queues/src/create-local-limiter.test.ts'],
  },
  {
    number: 14,
    fault:
      'ids of other accounts, forged and fixed sessions, a thousand guessed passwords, secrets at rest and in logs',
    passes: 'nothing of another account is visible, guesses are refused, no secret in plain text',
    tests: [
      'apps/api/src/dashboard/strangers.test.ts',
      'apps/api/src/dashboard/mount-dashboard.test.ts',
      'apps/api/src/dashboard/session.test.ts',
      'apps/api/src/dashboard/password.test.ts',
      'apps/api/src/dashboard/sign-in-limit.test.ts',
      'apps/api/src/dashboard/sign-in-attack.test.ts',
      ['apps/api/src/refused-accounts.test.ts', 'reaches a log line or Redis'],
    ],
  },
  {
    number: 15,
    fault: 'ten thousand generated requests, two thousand slow connections, uploads of a gigabyte, cells with formulas',
    passes: 'never a 5xx, other calls within 1 s, little memory, no cell begins a formula',
    tests: [
      'apps/api/src/openapi.test.ts',
      'apps/api/src/connections.test.ts',
      'apps/api/src/upload-limits.test.ts',
      'apps/api/src/responsive.test.ts',
      'packages/spreadsheet/src/laws.test.ts',
    ],
  },
  {
    number: 16,
    fault: 'every process of a fleet is replaced in turn, under load, beside an earlier release',
    passes: 'no 5xx, nothing lost, at most two lookups at a time, slots idle at most 1 s a restart',
    tests: ['apps/worker/src/rolling-restart.test.ts', 'apps/worker/src/shutdown.test.ts'],
  },
  {
    number: 17,
    fault: 'any mixture of slow lookups, kills, losses of Redis and dead connections',
    passes: 'at most two lookups of a member state at a time',
    tests: [CAP, 'packages/db/src/member-state-slots.network.test.ts'],
  },
  {
    number: 18,
    fault: 'three thousand calls wait in one API process; thirty full files are uploaded at once',
    passes: 'every call is answered in time, other calls within 1 s, no 500',
    tests: ['apps/api/src/waiting-callers.test.ts', 'apps/api/src/uploads-beside-checks.test.ts'],
  },
  {
    number: 19,
    fault: 'Redis is empty after Postgres was restored from a backup that was made while the service ran',
    passes: 'what was pending goes on, and nothing else changes',
    tests: [BACKUP],
  },
  {
    number: 20,
    fault: 'ten years of checks: millions of rows in every table that grows',
    passes: 'no statement reads a whole table or sorts more than a page',
    tests: [PLANS],
  },
  {
    number: 21,
    fault: 'a member state that is down, or saturated, with 10 000 waiting requests',
    passes: 'under 0.1 of a core for a worker, others untouched, full pace within 5 s of the first answer',
    tests: ['apps/worker/src/member-state-down.test.ts'],
  },
  {
    number: 22,
    fault: 'a dossier of 10 000 checks, intact, changed and incomplete, is verified in the browser',
    passes: 'in under 20 s, without holding the page up; the change is named',
    tests: [['apps/dashboard/src/evidence.test.ts', 'a dossier that is verified on the page']],
  },
  {
    number: 23,
    fault: 'an account with 50 000 due watches, five full batches, or calls at its full rate',
    passes: "another account's single call is looked up within four lookups",
    tests: ['apps/worker/src/fairness.test.ts'],
  },
];

/** @param {FaultRow['tests'][number]} test @returns {readonly [file: string, title: string]} */
const fileAndTitle = (test) => (typeof test === 'string' ? [test, ''] : [test[0], test[1]]);

/** The files of rows, each once. @param {readonly FaultRow[]} rows */
export const filesOf = (rows) => [...new Set(rows.flatMap(({ tests }) => tests.map((test) => fileAndTitle(test)[0])))];

/**
 * The tests of a row among those that ran, and its selections without any.
 *
 * @template {{ file: string, title: string }} T
 * @param {FaultRow} row @param {readonly T[]} ran
 */
export const testsOf = (row, ran) => {
  const found = row.tests.map((test) => {
    const [file, title] = fileAndTitle(test);
    return { test, tests: ran.filter((each) => each.file === file && each.title.includes(title)) };
  });
  return {
    tests: [...new Set(found.flatMap(({ tests }) => tests))],
    without: found.filter(({ tests }) => tests.length === 0).map(({ test }) => fileAndTitle(test).join(': ')),
  };
};
