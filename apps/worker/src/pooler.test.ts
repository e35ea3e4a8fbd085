import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import {
  balancedLedger,
  configureWebhook,
  numberOf,
  openReceivers,
  type Pooler,
  type Receivers,
  readLedger,
  runProgram,
  startPooler,
  startWorld,
  until,
  uploadBatch,
  type World,
} from '@vat/testkit';
import { CLUSTER_SETTINGS, clusterOf } from './fleet.fixture.js';

/** Far below what three processes would use directly (66); the tasks of all workers can hold seven for their locks. */
const POOL_SIZE = 10;
/**
 * Together several times the pool. A statement of a call has 1.5 s, the wait for a connection of the pooler included, and a call
 * whose statement takes longer is 500: forty calls at once exceed that where the machine has little CPU left.
 */
const [CALLS, LINES] = [20, 40];

let pooler: Pooler;
let receivers: Receivers;
let world: World;
beforeAll(async () => {
  pooler = await startPooler({ poolSize: POOL_SIZE });
  receivers = openReceivers();
  world = await startWorld({
    workers: 2,
    settings: { ...CLUSTER_SETTINGS, ...receivers.settings },
    pooledUrlOf: pooler.urlOf,
  });
});
afterAll(async () => {
  await world?.stop();
  await Promise.all([receivers?.close(), pooler?.stop()]);
});

const { callMany, noneOpen, statsOf } = clusterOf(() => world);

test('over a transaction pooler checks, a batch, deliveries, an export and anchors work, two lookups at a time', async () => {
  const receiver = await receivers.start();
  await configureWebhook(world, world.account, receiver.url);
  await world.vies.state('DE', { latency_ms: 80 });
  const lines = Array.from({ length: LINES }, (_, n) => numberOf('DE', 50_000 + n));
  const [answers, upload] = await Promise.all([
    callMany('DE', CALLS),
    uploadBatch(world, ['vat_number', ...lines].join('\n')),
  ]);
  expect(answers.filter(({ status }) => status !== 201 && status !== 202)).toEqual([]);
  expect(upload.status).toBe(201);
  const http = world.http();
  await until('the batch', async () => {
    const { body } = await http.get(`/v1/batches/${upload.body.batch_id}`).expect(200);
    return body.status === 'completed' && body.valid === lines.length;
  });
  await until('every request to end', noneOpen);
  expect((await statsOf('DE'))?.max_in_flight).toBe(2);
  const ledger = await readLedger(world);
  expect(ledger).toMatchObject({ ...balancedLedger(ledger), requests: CALLS + LINES, events: ledger.accepted + 1 });
  // One for each 202 and one for the batch, once each.
  const events = answers.filter(({ status }) => status === 202).length + 1;
  await until('the deliveries', () => receiver.arrivals.length >= events);
  expect(new Set(receiver.arrivals.map(({ body }) => createHash('sha256').update(body).digest('hex'))).size).toBe(
    receiver.arrivals.length,
  );

  const closed = await world.admin('anchor', 'close');
  expect(closed).toMatchObject({ status: 'closed', tree_size: CALLS + LINES });
  expect(await world.admin('anchor', 'verify')).toMatchObject({ anchors: 1, leaves: CALLS + LINES, differences: [] });
  const dossier = await fetch(`${world.baseUrl()}/v1/exports/dossier.zip`, {
    headers: { authorization: `Bearer ${world.account.live_key}` },
  });
  expect(dossier.status).toBe(200);
  const zip = await buffer(Readable.fromWeb(dossier.body as never));
  // The end record of a zip file with its number of entries: an interrupted export lacks it.
  expect(zip.subarray(-22, -18).toString('latin1')).toBe('PK\x05\x06');

  const connections = await world.sql<{ name: string; n: number }>(
    `SELECT application_name AS name, count(*)::int AS n FROM pg_stat_activity WHERE datname = $1 GROUP BY 1`,
    [world.name],
  );
  expect(connections.find(({ name }) => name === 'vat-slots')).toEqual({ name: 'vat-slots', n: 2 });
  const pooled = connections.filter(({ name }) => ['vat-api', 'vat-api-export', 'vat-worker'].includes(name));
  expect(pooled.reduce((sum, { n }) => sum + n, 0)).toBeLessThanOrEqual(POOL_SIZE);
});

test('a migration runs over a transaction pooler, one at a time', async () => {
  const migrations = await Promise.all([world.admin('migrate'), world.admin('migrate')]);
  expect(migrations).toEqual([{ applied: [] }, { applied: [] }]);
});

test.each([
  ['DATABASE_URL', { SLOTS_DATABASE_URL: '' }],
  ['SLOTS_DATABASE_URL', { SLOTS_DATABASE_URL: 'pooled' }],
])(
  'a worker whose slots would go through the pooler by %s ends at its start and says what to do',
  async (name, given) => {
    const settings = {
      ...world.settings,
      SLOTS_DATABASE_URL: given.SLOTS_DATABASE_URL && world.settings.DATABASE_URL,
    };
    const { code, stderr } = await runProgram('apps/worker/dist/main.js', [], settings as Record<string, string>, true);
    expect(code).toBe(78);
    expect(stderr).toMatch(
      new RegExp(`^${name} leads to a connection pooler.*set SLOTS_DATABASE_URL to the address of Postgres`),
    );
    expect(stderr.trim().split('\n')).toHaveLength(1);
  },
);
