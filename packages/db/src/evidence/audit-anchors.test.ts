import type { Queryable } from '../connect-database.js';
import { testDatabase } from '../test-database.fixture.js';
import { auditAnchors } from './audit-anchors.js';

const connected = testDatabase(1);

const LEAVES = 10_000;
const PAGE = 500;

/** Leaves of an anchor of which Postgres has no statistics yet, as right after its closing. */
beforeAll(async () => {
  const { db } = connected;
  await db.$executeRaw`
    INSERT INTO anchor_leaf (check_id, hash)
    SELECT (lpad(to_hex(1763600000000 + n), 12, '0') || '-7000-8000-000000000000')::uuid, sha256(n::text::bytea)
    FROM generate_series(0, ${LEAVES}::int - 1) AS n`;
  await db.$executeRaw`ANALYZE anchor_leaf`;
  await db.$executeRaw`
    UPDATE anchor_leaf l SET anchor_seq = 1, leaf_index = p.place
    FROM (SELECT check_id, (row_number() OVER (ORDER BY check_id))::int - 1 AS place FROM anchor_leaf) AS p
    WHERE l.check_id = p.check_id`;
});

/** The rows of leaves that this connection has read. It reports those of earlier statements later. */
const rowsRead = async (tx: Queryable): Promise<number> => {
  const [row] = await tx.$queryRaw<{ rows: number }[]>`
    SELECT sum(seq_tup_read + idx_tup_fetch)::int AS rows FROM pg_stat_xact_user_tables WHERE relname LIKE 'anchor_leaf%'`;
  return row?.rows ?? 0;
};

test('a page is read without the leaves after it, however few of them Postgres expects', async () => {
  const read = await connected.db.$transaction(async (tx) => {
    const before = await rowsRead(tx);
    const page = await auditAnchors(tx).leaves(1, 2 * PAGE, PAGE);
    expect([page.hashes.length, page.whole]).toEqual([32 * PAGE, true]);
    return (await rowsRead(tx)) - before;
  });
  expect(read).toBeGreaterThanOrEqual(PAGE);
  expect(read).toBeLessThan(2 * PAGE);
});

test('a page is read without the leaves of earlier anchors, however many of its own Postgres expects', async () => {
  const undo = new Error('undo');
  const read = connected.db.$transaction(async (tx) => {
    await tx.$executeRaw`
      UPDATE anchor_leaf SET anchor_seq = 2, leaf_index = leaf_index - ${LEAVES / 2}::int
      WHERE leaf_index >= ${LEAVES / 2}::int`;
    await tx.$executeRaw`ANALYZE anchor_leaf`;
    for (const from of [0, LEAVES / 2]) {
      const before = await rowsRead(tx);
      expect((await auditAnchors(tx).leaves(2, from, PAGE)).whole).toBe(true);
      expect((await rowsRead(tx)) - before).toBeLessThan(2 * PAGE);
    }
    throw undo;
  });
  await expect(read).rejects.toBe(undo);
});

test.each([
  ['missing at the end of a page', `DELETE FROM anchor_leaf WHERE leaf_index = ${PAGE - 1}`],
  ['twice in the last place of a page', `UPDATE anchor_leaf SET leaf_index = ${PAGE - 1} WHERE leaf_index = ${PAGE}`],
  ['before the first place', `UPDATE anchor_leaf SET leaf_index = -1 WHERE leaf_index = ${LEAVES - 1}`],
  ['far behind the last place', `DELETE FROM anchor_leaf WHERE leaf_index BETWEEN 10 AND ${LEAVES - 2}`],
])('an anchor with a leaf %s is not whole', async (_where, change) => {
  const undo = new Error('undo');
  const changed = connected.db.$transaction(async (tx) => {
    await tx.$executeRawUnsafe(change);
    expect((await auditAnchors(tx).leaves(1, 0, PAGE)).whole).toBe(false);
    throw undo;
  });
  await expect(changed).rejects.toBe(undo);
});
