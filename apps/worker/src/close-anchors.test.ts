import { closeAlone, findAnchor } from '@vat/db';
import { newUuid } from '@vat/domain';
import { closeNextAnchor, decodeAnchor, NO_ANCHOR_HASH, openTreeBuilder, verifyInclusion } from '@vat/evidence/proof';
import fc from 'fast-check';
import {
  type EvidenceFixture,
  type FixtureCheck,
  now,
  openEvidenceFixture,
  sha256,
} from './evidence-fixture.fixture.js';

let ground: EvidenceFixture;
beforeEach(async () => {
  ground = await openEvidenceFixture();
});
afterEach(() => ground?.stop());

const inOrder = (checks: FixtureCheck[]) => [...checks].sort((a, b) => (a.id < b.id ? -1 : 1));
const closed = async (sizes = {}) => {
  const closing = await ground.close(sizes);
  if (closing.kind !== 'closed') throw new Error(`not closed: ${closing.kind}`);
  return closing;
};
/** Proves every check, and returns in which anchor each is. */
const proveAll = async (checks: FixtureCheck[]): Promise<Map<string, number>> => {
  const proofs = await ground.prove(checks.map(({ id }) => id));
  const roots = await ground.db.$queryRaw<{ seq: number; root: Uint8Array }[]>`SELECT seq, root FROM anchor`;
  return new Map(
    checks.map(({ id, hash }) => {
      const proof = proofs.get(id);
      const root = roots.find(({ seq }) => seq === proof?.seq)?.root;
      if (!proof || !root) throw new Error(`the check ${id} is not proved`);
      const { leafIndex: index, treeSize: size, path } = proof;
      expect(verifyInclusion({ leaf: hash, index, size, path, root })).toBe(true);
      return [id, proof.seq];
    }),
  );
};

test('a period without checks makes no anchor', async () => {
  expect(await ground.close()).toEqual({ kind: 'nothing' });
  await ground.insertChecks(1);
  await closed();
  expect(await ground.close()).toEqual({ kind: 'nothing' });
  expect(await ground.sizes()).toEqual([1]);
});

test('an anchor holds the checks in the order of their ids, its columns repeat its form, and every check is proved', async () => {
  const checks = await ground.insertChecks(300);
  const { anchor, more } = await closed({ pageLeaves: 70 });
  const builder = openTreeBuilder();
  builder.add(Buffer.concat(inOrder(checks).map(({ hash }) => hash)));
  const tree = builder.finish();
  expect([anchor.seq, anchor.treeSize, more]).toEqual([1, 300, false]);
  expect(Buffer.from(anchor.root)).toEqual(tree.root);
  expect(decodeAnchor(anchor.body)).toEqual({
    v: 1,
    seq: 1,
    alg: 'rfc9162-sha256',
    closed_at: anchor.closedAt.toISOString(),
    tree_size: 300,
    root: tree.root.toString('hex'),
    prev_anchor_hash: NO_ANCHOR_HASH,
  });
  expect(Buffer.from(anchor.hash)).toEqual(sha256(anchor.body));
  await proveAll(checks);
  const found = await findAnchor(ground.db)(anchor.id);
  expect(found).toMatchObject({ ...anchor, root: Buffer.from(anchor.root), stamp: null });
});

test('for any order of recording and closing, each check is in one anchor and the chain verifies', async () => {
  const checks: FixtureCheck[] = [];
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: 150 }),
      fc.integer({ min: 1, max: 90 }),
      fc.boolean(),
      async (n, pageLeaves, capped) => {
        checks.push(...(await ground.insertChecks(n)));
        const max = capped ? { maxLeaves: 40 } : {};
        for (let more = n > 0; more; ) {
          const closing = await ground.close({ pageLeaves, ...max });
          more = closing.kind === 'closed' && closing.more;
        }
      },
    ),
    { numRuns: 8 },
  );
  await proveAll(checks);
  const anchors = await ground.sizes();
  expect(anchors.reduce((sum, size) => sum + size, 0)).toBe(checks.length);
  expect(await ground.verify()).toMatchObject({ anchors: anchors.length, leaves: checks.length, differences: [] });
});

test('an anchor that would be too large leaves the rest to the next, and reports it', async () => {
  await ground.insertChecks(25);
  expect([(await closed({ maxLeaves: 10 })).more, (await closed({ maxLeaves: 10 })).more]).toEqual([true, true]);
  expect((await closed({ maxLeaves: 10 })).more).toBe(false);
  expect(await ground.sizes()).toEqual([10, 10, 5]);
});

test('of closers at once one closes; no check is in two anchors and none in no one', async () => {
  const checks = await ground.insertChecks(400);
  const closings = await Promise.all(Array.from({ length: 5 }, () => ground.close({ pageLeaves: 20 })));
  expect(closings.map(({ kind }) => kind).filter((kind) => kind === 'closed')).toHaveLength(1);
  for (const { kind } of closings) expect(['closed', 'busy', 'nothing']).toContain(kind);
  expect(await ground.sizes()).toEqual([400]);
  await proveAll(checks);
});

test('a check whose transaction commits after a closing, with an id from before, is in the next anchor', async () => {
  const late = { id: newUuid(), hash: sha256(Buffer.from('late')) };
  const checks = await ground.insertChecks(5);
  await ground.db.$transaction(async (recording) => {
    await recording.$executeRaw`INSERT INTO anchor_leaf (check_id, hash) VALUES (${late.id}::uuid, ${late.hash})`;
    expect((await closed()).anchor.treeSize).toBe(5);
  });
  expect((await closed()).anchor.treeSize).toBe(1);
  const places = await proveAll([...checks, { ...late, requestId: '', bytes: Buffer.alloc(0) }]);
  expect([...places.values()]).toEqual([1, 1, 1, 1, 1, 2]);
});

test('a closer that dies on the way has closed nothing, and the next one closes everything', async () => {
  const checks = await ground.insertChecks(50);
  const kill = () => ground.db.$executeRaw`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'idle in transaction'`;
  const dying = closeAlone(ground.db)(async ({ take }) => {
    expect(await take(1, 0, 30)).toHaveLength(30 * 32);
    await kill();
    await take(1, 30, 30);
  });
  await expect(dying).rejects.toThrow();
  const [placed] = await ground.db.$queryRaw<{ n: number }[]>`
    SELECT count(*)::int AS n FROM anchor_leaf WHERE anchor_seq IS NOT NULL`;
  expect(placed?.n).toBe(0);
  const { anchor } = await closed();
  expect(anchor.treeSize).toBe(50);
  await proveAll(checks);
});

test('a clock that was set back does not put an anchor before its predecessor', async () => {
  await ground.insertChecks(1);
  const first = await closed();
  await ground.db.$executeRaw`
    INSERT INTO anchor_leaf (check_id, hash) VALUES (${newUuid()}::uuid, ${sha256(Buffer.from('x'))})`;
  const closing = await closeNextAnchor({
    closeAlone: closeAlone(ground.db),
    now: () => new Date(now().getTime() - 3_600_000),
  })();
  expect(closing).toMatchObject({ kind: 'closed', anchor: { closedAt: first.anchor.closedAt } });
});

const HOUR_MS = 3_600_000;

test('an anchor that was closed while the clock was ahead is stamped once that time has come, so that its time-stamp holds', async () => {
  await ground.insertChecks(1);
  const ahead = () => new Date(now().getTime() + HOUR_MS);
  await closeNextAnchor({ closeAlone: closeAlone(ground.db), now: ahead })();
  // Closed after the clock was set right: an anchor is never earlier than the one before it.
  await ground.insertChecks(1);
  const { anchor } = await closed();
  expect(anchor.closedAt.getTime()).toBeGreaterThan(now().getTime() + HOUR_MS / 2);
  expect(await ground.stamp(anchor.id)).toMatchObject({ kind: 'failed', nextAttemptAt: anchor.closedAt });
  expect(await ground.verify()).toMatchObject({ anchors: 2, differences: [] });
});
