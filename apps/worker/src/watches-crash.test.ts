import { randomInt } from 'node:crypto';
import { uuidOf } from '@vat/domain';
import {
  configureWebhook,
  faultSize,
  insertAccount,
  NUMBERED_STATES,
  numberOf,
  openReceivers,
  openWorldRedis,
  type Receivers,
  reportFigure,
  startWorld,
  until,
  type World,
  type WorldRedis,
} from '@vat/testkit';

const WATCHES = faultSize(60, 2_000);
const KILLS = faultSize(2, 100);
const WORKERS = 2;

let receivers: Receivers;
let world: World;
let redis: WorldRedis;
beforeAll(async () => {
  receivers = openReceivers();
  world = await startWorld({
    ownProcesses: true,
    workers: WORKERS,
    settings: {
      ...receivers.settings,
      WATCHES_EVERY: '300ms',
      SWEEP_EVERY: '500ms',
      BACKGROUND_GIVE_UP_AFTER: '30m',
      UPSTREAM_ATTEMPT_TIMEOUT: '2s',
      LOG_LEVEL: 'warn',
    },
  });
  redis = await openWorldRedis(world);
});
afterAll(async () => {
  redis?.close();
  await world?.stop();
  await receivers?.close();
});

/** An account with an endpoint whose watches are due now. */
const owner = async (first: number) => {
  const account = await insertAccount(world);
  const id = uuidOf('account', account.account_id);
  await world.sql(`UPDATE account SET plan = 'enterprise' WHERE id = $1`, [id]);
  const receiver = await receivers.start();
  await configureWebhook(world, account, receiver.url);
  const numbers = Array.from({ length: WATCHES }, (_, n) =>
    numberOf(NUMBERED_STATES[n % NUMBERED_STATES.length] ?? 'DE', first + n),
  );
  await world.sql(
    `INSERT INTO watch (id, account_id, vat_number, country_code, national, input, frequency, state, created_at, next_check_at)
     SELECT gen_random_uuid(), $1, n, left(n, 2), substr(n, 3), n, 'daily', 'active', now(), now() FROM unnest($2::text[]) n`,
    [id, numbers],
  );
  const used = async (): Promise<number> => {
    const [row] = await world.sql<{ used: number }>('SELECT sum(used)::int AS used FROM usage WHERE account_id = $1', [
      id,
    ]);
    return row?.used ?? 0;
  };
  return {
    receiver,
    used,
    runAll: () => world.sql('UPDATE watch SET next_check_at = now() WHERE account_id = $1', [id]),
    /** What is on the books of the account. */
    books: async () => {
      const [row] = await world.sql(
        `SELECT (SELECT sum(used)::int FROM usage WHERE account_id = $1) AS used,
           (SELECT sum(reserved)::int FROM usage WHERE account_id = $1) AS reserved,
           (SELECT count(*)::int FROM usage_entry WHERE account_id = $1) AS consumed,
           (SELECT count(*)::int FROM "check" WHERE account_id = $1) AS checks,
           (SELECT count(*)::int FROM watch WHERE account_id = $1 AND request_id IS NOT NULL) AS running,
           (SELECT count(*)::int FROM watch_change c JOIN watch w ON w.id = c.watch_id WHERE account_id = $1) AS changes,
           (SELECT count(DISTINCT (c.watch_id, c.kind))::int FROM watch_change c JOIN watch w ON w.id = c.watch_id
             WHERE account_id = $1) AS different,
           (SELECT count(*)::int FROM event WHERE account_id = $1) AS events,
           (SELECT count(*)::int FROM delivery WHERE account_id = $1) AS deliveries`,
        [id],
      );
      return row;
    },
  };
};
/** After a baseline and one run that found another name and address everywhere. */
const ALL_TOLD_ONCE = {
  used: 2 * WATCHES,
  reserved: 0,
  consumed: 2 * WATCHES,
  checks: 2 * WATCHES,
  running: 0,
  changes: 2 * WATCHES,
  different: 2 * WATCHES,
  events: 2 * WATCHES,
  deliveries: 2 * WATCHES,
};
const ENDED_WITHIN_MS = faultSize(60_000, 600_000);

test('kill -9 of workers during runs loses no change, delivers none twice and charges none twice', async () => {
  const who = await owner(0);
  await until('every baseline', async () => (await who.used()) === WATCHES, ENDED_WITHIN_MS);
  await world.vies.answerAll({ kind: 'valid', name: 'ANOTHER', address: '2 RUE B' });
  await world.vies.defaults({ latency_ms: 40, jitter_ms: 160 });
  await who.runAll();
  const alive = [...world.workers];
  for (let kills = 1; kills <= KILLS; kills += 1) {
    const enough = WATCHES + Math.floor((kills * WATCHES * 0.8) / KILLS);
    await until('some runs to have ended', async () => (await who.used()) >= enough, ENDED_WITHIN_MS);
    const [victim] = alive.splice(randomInt(alive.length), 1);
    victim?.signal('SIGKILL');
    await victim?.exited;
    alive.push(await world.startWorker());
  }
  await until('every run to end', async () => (await who.used()) === 2 * WATCHES, ENDED_WITHIN_MS);
  expect(await who.books()).toEqual(ALL_TOLD_ONCE);
  reportFigure(`watches: ${WATCHES} runs with ${KILLS} kills of workers: every change once`);
}, 1_200_000);

test('a loss of Redis in the middle of runs loses no change, and the runs that follow begin by themselves', async () => {
  await world.vies.reset();
  const who = await owner(WATCHES);
  await until('every baseline', async () => (await who.used()) === WATCHES, ENDED_WITHIN_MS);
  await world.vies.answerAll({ kind: 'valid', name: 'ANOTHER', address: '2 RUE B' });
  await world.vies.defaults({ latency_ms: 150 });
  await redis.flush();
  await who.runAll();
  await until('some runs to have ended', async () => (await who.used()) > WATCHES, ENDED_WITHIN_MS);
  await redis.flush();
  await until('every run to end', async () => (await who.used()) === 2 * WATCHES, ENDED_WITHIN_MS);
  expect(await who.books()).toEqual(ALL_TOLD_ONCE);
}, 1_200_000);
