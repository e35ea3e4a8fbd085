import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { closeAlone } from '@vat/db';
import { newUuid, uuidOf } from '@vat/domain';
import { closeNextAnchor, verifyTimestamp } from '@vat/evidence/proof';
import {
  createTestTsa,
  openWorldRedis,
  provideTool,
  runProgram,
  startWorld,
  type TestTsa,
  until,
  type World,
  type WorldRedis,
} from '@vat/testkit';
import { connectTo } from './database.fixture.js';
import { sha256 } from './evidence-fixture.fixture.js';

const now = () => new Date();

type StampRow = {
  token: Buffer | null;
  digest: Buffer;
  attempts: number;
  last_error: string | null;
  development: boolean;
};
const stampIn = async (world: World, subjectId: string): Promise<StampRow | undefined> =>
  (await world.sql<StampRow>('SELECT * FROM stamp WHERE subject_id = $1', [subjectId]))[0];
const stamped = (world: World, subjectId: string) =>
  until('the time-stamp', async () => {
    const row = await stampIn(world, subjectId);
    return row?.token && { ...row, token: row.token };
  });
const anchorOf = (answer: Record<string, unknown>): string => {
  const id = uuidOf('anchor', String(answer.anchor_id));
  if (id === null) throw new Error(`not closed: ${JSON.stringify(answer)}`);
  return id;
};
/** A leaf of a check that was deleted since. */
const insertLeaf = (world: World) =>
  world.sql('INSERT INTO anchor_leaf (check_id, hash) VALUES ($1, $2)', [newUuid(), sha256(Buffer.from(newUuid()))]);

describe('without an authority', () => {
  let world: World;
  beforeAll(async () => {
    // Checks are only the means here: a busy machine must not make promises of them.
    world = await startWorld({
      settings: { UPSTREAM_WINDOW: '20s', UPSTREAM_ATTEMPT_TIMEOUT: '10s' },
      // Evidence is served later: the schedule's first closing comes with its worker, and would take some of the checks.
      workers: 0,
    });
    await world.startWorker({ WORKER_QUEUES: 'checks,maintenance' });
  });
  afterAll(() => world?.stop());

  let anchorId: string;
  test('live checks are anchored, malformed ones too and test ones not; the anchor is stamped', async () => {
    const check = (key: string, number: string) =>
      world.http(key).post('/v1/checks', { vat_number: number }).expect(201);
    const { live_key: live, test_key: sandbox } = world.account;
    const bodies = [
      (await check(live, 'DE136695976')).body,
      (await check(live, 'DE12')).body,
      (await check(sandbox, 'DE136695976')).body,
    ];
    const answer = await world.admin('anchor', 'close');
    expect(answer).toEqual({
      ...{ status: 'closed', v: 1, seq: 1, alg: 'rfc9162-sha256', tree_size: 2, prev_anchor_hash: '0'.repeat(64) },
      anchor_id: expect.stringMatching(/^anc_/),
      closed_at: expect.stringMatching(/Z$/),
      ...{ root: expect.stringMatching(/^[0-9a-f]{64}$/), hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    const leaves = await world.sql<{ check_id: string }>('SELECT check_id FROM anchor_leaf ORDER BY leaf_index');
    expect(leaves.map(({ check_id: id }) => id)).toEqual(bodies.slice(0, 2).map(({ id }) => uuidOf('check', id)));
    anchorId = anchorOf(answer);
    await world.startWorker({ WORKER_QUEUES: 'evidence' });
    const { token, digest, development } = await stamped(world, anchorId);
    expect([digest.toString('hex'), development]).toEqual([answer.hash, true]);
    expect(verifyTimestamp({ tokenBytes: token, digest }).authority).toMatch(/development/);
    expect(await world.admin('anchor', 'close')).toEqual({ status: 'nothing_to_anchor', anchor_id: null });
  });

  test('openssl verifies the token of an anchor over its form', async () => {
    const { token } = await stamped(world, anchorId);
    const [row] = await world.sql<{ body: Buffer; root: string }>(
      'SELECT a.body, d.root FROM anchor a, development_authority d WHERE a.id = $1',
      [anchorId],
    );
    const folder = mkdtempSync(path.join(tmpdir(), 'vat-anchor-'));
    try {
      const file = (name: string, content: string | Buffer = '') => {
        const full = path.join(folder, name);
        writeFileSync(full, content);
        return full;
      };
      const data = file('anchor.json', row?.body);
      const given = ['-in', file('anchor.tsr', token), '-CAfile', file('root.pem', row?.root)];
      const openssl = await provideTool('openssl');
      const verify = () =>
        execFileSync(openssl.file, ['ts', '-verify', '-data', data, ...given], { env: openssl.env, stdio: 'pipe' });
      expect(verify().toString()).toContain('Verification: OK');
      file('anchor.json', Buffer.concat([row?.body ?? Buffer.alloc(0), Buffer.from(' ')]));
      expect(verify).toThrow();
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('an account is erased a minute after it was disabled', async () => {
    const { account_id: id, live_key: key } = await world.newAccount();
    const { body } = await world.http(key).post('/v1/checks', { vat_number: 'DE136695976' }).expect(201);
    const erase = async () => {
      const { code, stdout } = await runProgram(
        'apps/admin/dist/main.js',
        ['account', 'erase', id],
        world.settings,
        true,
      );
      return { code, answer: JSON.parse(stdout) };
    };
    await world.admin('account', 'disable', id);
    expect(await erase()).toMatchObject({ code: 1, answer: { error: { code: 'USAGE' } } });
    await world.sql(`UPDATE account SET disabled_at = disabled_at - interval '61 s' WHERE id = $1`, [
      uuidOf('account', id),
    ]);
    expect(await erase()).toEqual({
      code: 0,
      answer: { account_id: id, erased: { requests: 1, events: 0, batches: 0, watches: 0 } },
    });
    const check = uuidOf('check', body.id);
    expect(await world.sql('SELECT 1 FROM "check" WHERE id = $1', [check])).toEqual([]);
    expect(await world.sql('SELECT 1 FROM anchor_leaf WHERE check_id = $1', [check])).toHaveLength(1);
    const named = await world.sql('SELECT name FROM account WHERE id = $1', [uuidOf('account', id)]);
    expect(named).toEqual([{ name: 'erased' }]);
  });

  test('an anchor whose closer died before it gave the stamp its job is stamped by the sweep, with the authority of all', async () => {
    const before = [...world.workers];
    await world.startWorker({ WORKER_QUEUES: 'evidence' });
    await Promise.all(before.map((worker) => worker.stop()));
    await world.startWorker({ WORKER_QUEUES: 'maintenance' });
    await insertLeaf(world);
    const { db, close } = connectTo(world);
    try {
      const closing = await closeNextAnchor({ closeAlone: closeAlone(db), now })();
      if (closing.kind !== 'closed') throw new Error('not closed');
      await stamped(world, closing.anchor.id);
    } finally {
      await close();
    }
    const kept = await world.sql<{ key_sealed: Buffer }>('SELECT * FROM development_authority');
    expect(kept).toHaveLength(1);
    expect(kept[0]?.key_sealed.includes('PRIVATE KEY')).toBe(false);
    expect(await world.admin('anchor', 'verify')).toEqual({
      anchors: 2,
      leaves: 4,
      stamps: 0,
      development: 2,
      differences: [],
    });
  });

  test('anchor verify exits with 1 when something differs, and names it', async () => {
    await world.sql('UPDATE anchor_leaf SET hash = sha256(hash) WHERE anchor_seq = 1 AND leaf_index = 0');
    const { code, stdout } = await runProgram('apps/admin/dist/main.js', ['anchor', 'verify'], world.settings, true);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      differences: [
        { kind: 'check_changed', anchor_seq: 1, check_id: expect.stringMatching(/^chk_/) },
        { kind: 'anchor_root', anchor_seq: 1 },
      ],
    });
  });
});

describe('with an authority that is away', () => {
  let world: World;
  let redis: WorldRedis;
  let tsa: TestTsa;
  beforeAll(async () => {
    tsa = await createTestTsa();
    world = await startWorld({
      apis: 0,
      settings: {
        // The recomputation below reads tokens over SHA-384 for that.
        ...{ TSA_URL: tsa.url, TSA_ROOTS: tsa.root, TSA_HASH: 'sha384', TSA_RETRY_DELAYS: '1s' },
        ...{ ANCHOR_EVERY: '500ms', ANCHORS_VERIFIED_EVERY: '1s', SWEEP_EVERY: '300ms' },
      },
    });
    redis = await openWorldRedis(world);
  });
  afterAll(async () => {
    redis?.close();
    await world?.stop();
    await tsa?.close();
  });

  /** An anchor that the schedule closes. */
  const nextAnchor = async (): Promise<string> => {
    const [before] = await world.sql<{ seq: number }>('SELECT COALESCE(max(seq), 0) AS seq FROM anchor');
    await insertLeaf(world);
    return until('the schedule to close an anchor', async () => {
      const [row] = await world.sql<{ id: string }>('SELECT id FROM anchor WHERE seq > $1', [before?.seq]);
      return row?.id;
    });
  };
  const failed = (id: string, why: RegExp) =>
    until('a failed try', async () => {
      const row = await stampIn(world, id);
      return why.test(row?.last_error ?? '') && row;
    });

  test('anchors close all the same, and are stamped when it is back, byte for byte as it answered', async () => {
    const id = await nextAnchor();
    const row = await failed(id, /^unreachable: /);
    expect([row.token, row.attempts > 0]).toEqual([null, true]);
    await tsa.open();
    const { token } = await stamped(world, id);
    expect(tsa.sent.some((bytes) => bytes.equals(token))).toBe(true);
  });

  test('a token of something else is refused, and the right one is taken at the next try', async () => {
    tsa.answerWith('wrong');
    const id = await nextAnchor();
    const row = await failed(id, /^wrong_imprint: /);
    expect(row.token).toBeNull();
    tsa.answerWith('honest');
    const { token: tokenBytes } = await stamped(world, id);
    const [anchor] = await world.sql<{ body: Buffer }>('SELECT body FROM anchor WHERE id = $1', [id]);
    const digest = createHash('sha384')
      .update(anchor?.body ?? '')
      .digest();
    expect(verifyTimestamp({ tokenBytes, digest, trustedRoots: [tsa.root] }).genTime).toBeInstanceOf(Date);
  });

  test('a loss of Redis loses neither a stamp that waits nor the schedule', async () => {
    await tsa.close();
    const waiting = await nextAnchor();
    await failed(waiting, /^unreachable: /);
    await redis.flush();
    await tsa.open();
    await stamped(world, waiting);
    await stamped(world, await nextAnchor());
  });

  test('the scheduled recomputation alarms at ERROR and by a metric when something was changed, and not before', async () => {
    const [worker] = world.workers;
    const said = (message: string) => (worker?.lines() ?? []).filter((line) => line.includes(message));
    const port = String(worker?.ready.metrics_port);
    const metric = async (name = 'vat_anchor_differences') => {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      return Number(new RegExp(`^${name}\\{.*\\} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
    };
    const recomputed = said('All anchors were recomputed.').length;
    await until('another walk', () => said('All anchors were recomputed.').length > recomputed);
    expect([await metric(), said('Anchored evidence is not what it was.')]).toEqual([0, []]);
    const recomputedAt = await metric('vat_anchors_recomputed_timestamp_seconds');
    expect(Math.abs(Date.now() / 1_000 - recomputedAt)).toBeLessThan(60);
    await world.sql('UPDATE anchor SET root = sha256(root) WHERE seq = 1');
    await until('the alarm', () => said('Anchored evidence is not what it was.').length > 0);
    const [line = ''] = said('Anchored evidence is not what it was.');
    expect(JSON.parse(line)).toMatchObject({ level: 'error', anchor_seq: 1, kind: 'anchor_columns' });
    await until('the metric', async () => (await metric()) > 0);
  });
});
