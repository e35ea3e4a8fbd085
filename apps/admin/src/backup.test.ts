import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { publicId } from '@vat/domain';
import {
  callChecks,
  configureWebhook,
  faultSize,
  insertChecks,
  numberOf,
  openReceivers,
  openSql,
  type Receivers,
  readLedger,
  runProgram,
  startProcess,
  startWorld,
  until,
  uploadBatch,
  type World,
  withStatus,
} from '@vat/testkit';

const CHECKS = faultSize(1_500, 1_000_000);
const DOWN = { kind: 'error', code: 'MS_UNAVAILABLE' };

let receivers: Receivers;
let world: World;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'vat-backup-'));
  receivers = openReceivers();
  world = await startWorld({
    settings: {
      ...receivers.settings,
      WATCHES_EVERY: '300ms',
      // Nothing ends while the copy of a large database is written.
      BACKGROUND_GIVE_UP_AFTER: '2h',
      BACKGROUND_RETRY_DELAYS: '500ms',
      WEBHOOK_RETRY_DELAYS: Array.from({ length: 3_600 }, () => '1s').join(','),
    },
  });
});
afterAll(async () => {
  await world?.stop();
  await receivers?.close();
  await rm(folder, { recursive: true, force: true });
});

/** The rows that work is made of, and what must not change; as one text each. */
const OPEN_WORK = `
  SELECT (SELECT count(*)::int FROM request WHERE state = 'pending') AS requests,
    (SELECT count(*)::int FROM delivery WHERE state = 'pending') AS deliveries,
    (SELECT count(*)::int FROM batch WHERE state <> 'completed') AS batches,
    (SELECT count(*)::int FROM watch WHERE last_check_id IS NULL) AS watches`;

test(
  `a copy of ${CHECKS} checks, written while the service runs, is restored beside an empty Redis, and all work goes on`,
  async () => {
    const { account } = world;
    const http = world.http();
    const ids = await insertChecks(world, { accountId: account.account_id, count: CHECKS, exchanges: 1 });
    // The worker may have closed an anchor of some of them already.
    await world.admin('anchor', 'close');
    expect(await world.sql('SELECT check_id FROM anchor_leaf WHERE anchor_seq IS NULL LIMIT 1')).toEqual([]);
    const receiver = await receivers.start(withStatus(500));
    await configureWebhook(world, account, receiver.url);

    // Work of each kind that cannot end yet.
    await world.vies.state('DE', { answer: DOWN });
    const lines = [...Array(20).keys()].map((n) => numberOf(n % 2 === 0 ? 'DE' : 'FR', 600_000 + n));
    const { body: batch } = await uploadBatch(world, ['vat_number', ...lines].join('\n'));
    const { body: watch } = await http
      .post('/v1/watches', { vat_number: numberOf('DE', 700_000), frequency: 'daily' })
      .expect(201);
    const pending = await callChecks(
      world,
      [...Array(15).keys()].map((n) => numberOf('DE', 800_000 + n)),
    );
    expect(new Set(pending.map(({ status }) => status))).toEqual(new Set([202]));
    await http.post('/v1/webhook/test').expect(202);

    // The service works on while the copy is written.
    let copying = true;
    let calls = 0;
    const traffic = (async () => {
      while (copying) {
        calls += 1;
        const [answer] = await callChecks(world, [numberOf('FR', 900_000 + calls)]);
        expect(answer?.status).toBe(201);
      }
    })();
    await until('traffic', () => calls > 5);
    const checkId = publicId('check', ids[CHECKS >> 1] ?? '');
    const pathOf = ({ url }: Record<string, unknown>) => new URL(String(url)).pathname;
    const link = pathOf((await http.get(`/v1/checks/${checkId}/link`).expect(200)).body);
    const backup = path.join(folder, 'backup');
    const written = await world.admin('backup', backup);
    copying = false;
    await traffic;
    expect(written).toEqual({
      bytes: expect.any(Number),
      tables: (await readdir(backup)).length - 1,
      seconds: expect.any(Number),
    });
    const before = await http.get(`/v1/checks/${checkId}`).expect(200);
    await Promise.all([...world.apis, ...world.workers].map((process) => process.stop()));

    const url = new URL(String(world.settings.DATABASE_URL));
    url.pathname = `/${world.name}_restored`;
    await world.sql(`CREATE DATABASE ${world.name}_restored`);
    const settings = { ...world.settings, DATABASE_URL: url.href, REDIS_PREFIX: `${world.name}-restored` };
    const admin = async (...words: string[]) =>
      JSON.parse((await runProgram('apps/admin/dist/main.js', words, settings, true)).stdout) as Record<
        string,
        unknown
      >;
    const { sql, close: closeSql } = openSql(url.href);
    try {
      const restored = await admin('restore', backup);
      expect(restored).toEqual({ ...written, seconds: expect.any(Number) });
      process.stdout.write(
        `backup: ${CHECKS} checks, ${written['bytes']} bytes, written in ${written['seconds']} s, restored in ${restored['seconds']} s\n`,
      );
      const [open] = await sql<Record<string, number>>(OPEN_WORK);
      expect(open).toMatchObject({ batches: 1, watches: 1 });
      expect(open?.['requests']).toBeGreaterThanOrEqual(26);
      expect(open?.['deliveries']).toBeGreaterThanOrEqual(1);
      expect(await admin('restore', backup)).toMatchObject({
        error: { code: 'USAGE', message: expect.stringMatching(/not empty/) },
      });

      await world.vies.reset();
      receiver.answer(withStatus(204));
      const processes = await Promise.all(
        ['apps/api/dist/main.js', 'apps/worker/dist/main.js'].map((file) => startProcess(file, settings)),
      );
      try {
        const read = async (at: string): Promise<Record<string, unknown>> => {
          const response = await fetch(`${String(processes[0]?.ready.base_url)}${at}`, {
            headers: { authorization: `Bearer ${account.live_key}` },
          });
          return (await response.json()) as Record<string, unknown>;
        };
        expect(await read(`/v1/checks/${checkId}`)).toEqual(before.body);
        expect(pathOf(await read(`/v1/checks/${checkId}/link`))).toBe(link);
        await until('everything pending to end', async () => {
          const [left] = await sql<Record<string, number>>(OPEN_WORK);
          return Object.values(left ?? {}).every((count) => count === 0);
        });
        expect(await read(`/v1/batches/${batch.batch_id}`)).toMatchObject({ status: 'completed', done: 20, valid: 20 });
        expect(await read(`/v1/watches/${String(watch.watch_id)}`)).toMatchObject({
          last_check_id: expect.stringMatching(/^chk_/),
        });
        for (const { body } of pending)
          expect(await read(`/v1/requests/${String(body['request_id'])}`)).toMatchObject({ status: 'completed' });
        expect(await readLedger({ sql })).toMatchObject({ open: 0, acceptedWithoutOneEvent: 0, abandoned: 0 });
        expect(await sql(`SELECT count(*)::int AS n FROM delivery WHERE state <> 'successful'`)).toEqual([{ n: 0 }]);
        // The restored anchor, and those that the workers have chained to it since.
        const verified = await admin('anchor', 'verify');
        expect(verified).toMatchObject({ differences: [] });
        expect(verified['anchors']).toBeGreaterThanOrEqual(1);
      } finally {
        await Promise.all(processes.map((started) => started.stop()));
      }
    } finally {
      await closeSql();
      await world.sql(`DROP DATABASE ${world.name}_restored WITH (FORCE)`);
    }
  },
  faultSize(180_000, 3_600_000),
);

test.each([
  [['backup'], /Name the directory/],
  [['restore'], /Name the directory/],
  [['backup', 'a', 'b'], /Unexpected argument b.*backup DIR/],
  // No folder can be created there, whatever the user.
  [['backup', '/proc/nope'], /^\/proc\/nope cannot be created \(ENOENT\): name a directory that can be written/],
  [['backup', '/proc/nope/again'], /cannot be created \(ENOENT\)/],
  [['restore', '/nonexistent/backup'], /manifest\.json cannot be read \(ENOENT\).*admin backup/],
])('%j is refused and says what to write', async (words, message) => {
  expect(await world.admin(...words)).toEqual({ error: { code: 'USAGE', message: expect.stringMatching(message) } });
});
