import { uuidOf } from '@vat/domain';
import { issueKeys, numberOf, skewedClock, startWorld, until, uploadBatch, type World } from '@vat/testkit';

const SKEWS = [
  ['ahead', 30_000],
  ['behind', -30_000],
] as const;
const CALLS = 6;
const TOLERANCE_MS = 2_000;

const worlds = new Map<string, World>();
beforeAll(async () => {
  await Promise.all(
    SKEWS.map(async ([where, skewMs]) => {
      // A window that ends before the clocks of the two processes agree by themselves.
      const settings = { UPSTREAM_WINDOW: '8s', BACKGROUND_RETRY_DELAYS: '500ms' };
      const world = await startWorld({ workers: 0, settings });
      worlds.set(where, world);
      await world.startWorker(skewedClock(skewMs));
    }),
  );
});
afterAll(() => Promise.all([...worlds.values()].map((world) => world.stop())));
const worldOf = (where: string): World => {
  const world = worlds.get(where);
  if (world === undefined) throw new Error(`no world whose clock is ${where}`);
  return world;
};

describe('a worker whose clock is off by 30 s', () => {
  test.concurrent.each(SKEWS)(
    '%s answers direct checks within their windows, and dates them rightly',
    async (where) => {
      const world = worldOf(where);
      const keys = await issueKeys(world, CALLS);
      await Promise.all(
        keys.map(async (key, n) => {
          const before = Date.now();
          const { status, body } = await world.http(key).post('/v1/checks', { vat_number: numberOf('DE', n) });
          expect([status, body.valid]).toEqual([201, true]);
          const checkedAt = Date.parse(body.checked_at);
          expect(checkedAt).toBeGreaterThan(before - TOLERANCE_MS);
          expect(checkedAt).toBeLessThan(Date.now() + TOLERANCE_MS);
          // The dossier shows both.
          const exchanges = await world.sql<{ started_at: Date }>(
            'SELECT started_at FROM exchange WHERE request_id = $1',
            [uuidOf('request', body.request_id)],
          );
          expect(exchanges).toHaveLength(1);
          for (const { started_at: startedAt } of exchanges)
            expect(Math.abs(startedAt.getTime() - checkedAt)).toBeLessThan(TOLERANCE_MS);
        }),
      );
    },
  );

  test.concurrent.each(SKEWS)(
    '%s retries a lookup after its delay, within the window and in the background',
    async (where) => {
      const world = worldOf(where);
      const saturated = { kind: 'error', code: 'MS_MAX_CONCURRENT_REQ' };
      await world.vies.script('FR83404833048', [saturated, saturated, 'valid']);
      const { status, body } = await world.http().post('/v1/checks', { vat_number: 'FR83404833048' });
      expect([status, body.valid]).toEqual([201, true]);

      await world.vies.script('IT00159560366', [{ kind: 'error', code: 'MS_UNAVAILABLE' }]);
      const accepted = await world.http().post('/v1/checks', { vat_number: 'IT00159560366' });
      expect(accepted.status).toBe(202);
      await world.vies.script('IT00159560366', ['valid']);
      await until('the pending request to be completed', async () => {
        const request = await world.http().get(`/v1/requests/${accepted.body.request_id}`);
        return request.body.status === 'completed';
      });
    },
  );

  test.each(SKEWS)('%s reports that its clock differs', (where, skewMs) => {
    const warnings = (worldOf(where).workers[0]?.lines() ?? []).filter((line) =>
      line.includes('The clock of this machine'),
    );
    expect(warnings.length).toBeGreaterThan(0);
    for (const warning of warnings) {
      const { offset_ms: offset } = JSON.parse(warning) as { offset_ms: number };
      expect(Math.abs(offset + skewMs)).toBeLessThan(TOLERANCE_MS);
    }
  });
});

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('an API and a worker whose clocks are off by months and hours', () => {
  let world: World;
  afterEach(() => world?.stop());

  /** All ids whose time says in which partition or in which page of a list a row is. */
  const IDS = ['request', '"check"', 'event', 'batch', 'batch_line', 'watch', 'anchor']
    .map((table) => `SELECT id::text FROM ${table}`)
    .join(' UNION ALL ');

  test.each([
    ['ahead', 100 * DAY_MS, 3 * HOUR_MS],
    ['behind', -100 * DAY_MS, -3 * HOUR_MS],
  ])(
    '%s end batches, and what they record is found by its time',
    async (_where, ofApi, ofWorker) => {
      world = await startWorld({ apis: 0, workers: 0, settings: { WATCHES_EVERY: '200ms' } });
      await Promise.all([world.startApi(skewedClock(ofApi)), world.startWorker(skewedClock(ofWorker))]);
      const http = world.http();
      const from = new Date(Date.now() - TOLERANCE_MS).toISOString();
      const numbers = [numberOf('DE', 1), numberOf('DE', 2), 'DE1'];
      const { body: batch } = await uploadBatch(world, `number\n${numbers.join('\n')}\n`);
      const { batch_id: id } = batch;
      const watched = await http.post('/v1/watches', { vat_number: numberOf('FR', 1), frequency: 'daily' });
      expect(watched.status).toBe(201);
      await until('the batch to be completed', async () => {
        const { body } = await http.get(`/v1/batches/${id}`);
        return body.status === 'completed';
      });
      const results = await http.get(`/v1/batches/${id}/results.csv`);
      expect(results.text.split('\r\n').map((row) => row.split(',')[3])).toEqual([
        'verdict',
        'valid',
        'valid',
        'malformed',
        undefined,
      ]);
      await until('the watch to be checked', async () => {
        const { body } = await http.get(`/v1/watches/${watched.body.watch_id}`);
        return body.last_check_id !== null;
      });
      const to = new Date(Date.now() + TOLERANCE_MS).toISOString();
      const events = await http.get(`/v1/events?from=${from}&to=${to}`);
      expect(events.body.data).toMatchObject([{ type: 'batch.completed', body: { batch_id: id } }]);
      for (const row of await world.sql<{ id: string }>(IDS)) {
        const at = Number.parseInt(row.id.replace('-', '').slice(0, 12), 16);
        expect([at > Date.parse(from), at < Date.parse(to)]).toEqual([true, true]);
      }
    },
    60_000,
  );

  test('a worker whose clock is right continues the repeating tasks of one that was a day ahead', async () => {
    world = await startWorld({ workers: 0, settings: { WATCHES_EVERY: '200ms' } });
    const watched = async (n: number) => {
      const { body } = await world.http().post('/v1/watches', { vat_number: numberOf('FR', n), frequency: 'daily' });
      await until('the watch to be checked', async () => {
        const watch = await world.http().get(`/v1/watches/${body.watch_id}`);
        return watch.body.last_check_id !== null;
      });
    };
    const ahead = await world.startWorker(skewedClock(DAY_MS));
    await watched(1);
    await ahead.stop();
    await world.startWorker();
    await watched(2);
  });

  test('a worker whose clock is right retries in time what one that was a day ahead has put off', async () => {
    const settings = { UPSTREAM_WINDOW: '1s', BACKGROUND_RETRY_DELAYS: '500ms', SWEEP_EVERY: '500ms' };
    world = await startWorld({ workers: 0, settings });
    await world.vies.state('FR', { answer: { kind: 'error', code: 'MS_UNAVAILABLE' } });
    const ahead = await world.startWorker(skewedClock(DAY_MS));
    const { status, body } = await world.http().post('/v1/checks', { vat_number: numberOf('FR', 1) });
    expect(status).toBe(202);
    await ahead.stop();
    await world.vies.reset();
    await world.startWorker();
    await until('the request to be completed', async () => {
      const request = await world.http().get(`/v1/requests/${body.request_id}`);
      return request.body.status === 'completed';
    });
  });
});
