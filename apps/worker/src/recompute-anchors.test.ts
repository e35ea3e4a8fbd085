import { requestStamp } from '@vat/db';
import { newUuid, publicId } from '@vat/domain';
import { type EvidenceFixture, type FixtureCheck, now, openEvidenceFixture } from './evidence-fixture.fixture.js';

/** Three anchors of 100, 5 and 70 checks, all stamped, one check stamped, two checks not anchored yet. */
let ground: EvidenceFixture;
const checks: FixtureCheck[] = [];
const TABLES = ['anchor', 'anchor_leaf', 'anchor_node', 'stamp', 'check'];

const run = (sql: string) => ground.db.$executeRawUnsafe(sql);
beforeAll(async () => {
  ground = await openEvidenceFixture();
  for (const n of [100, 5, 70]) {
    checks.push(...(await ground.insertChecks(n)));
    const closing = await ground.close();
    if (closing.kind !== 'closed') throw new Error('not closed');
    await ground.stamp(closing.anchor.id);
  }
  checks.push(...(await ground.insertChecks(2)));
  const [first] = checks;
  const [row] = await ground.db.$queryRaw<
    { account_id: string }[]
  >`SELECT account_id FROM "check" WHERE id = ${first?.id}::uuid`;
  await requestStamp(ground.db)(first?.id ?? '', row?.account_id ?? '', now());
  await ground.stamp(first?.id ?? '');
  for (const table of TABLES) await run(`CREATE TABLE "kept_${table}" AS TABLE "${table}"`);
});
afterAll(() => ground?.stop());
beforeEach(async () => {
  for (const table of TABLES) await run(`DELETE FROM "${table}"`);
  for (const table of TABLES) await run(`INSERT INTO "${table}" SELECT * FROM "kept_${table}"`);
});

/** Kinds of differences, each once. */
const kinds = async () => [...new Set((await ground.verify()).differences.map(({ kind }) => kind))].sort();
const leaf = (place: number) => `anchor_seq = 1 AND leaf_index = ${place}`;
const flipped = (column: string, at: number) => `set_byte(${column}, ${at}, get_byte(${column}, ${at}) # 1)`;
const checkOf = (place: number) => `id = (SELECT check_id FROM anchor_leaf WHERE ${leaf(place)})`;

test('unchanged evidence verifies, and all of it is read', async () => {
  expect(await ground.verify()).toEqual({
    ...{ anchors: 3, leaves: 175, stamps: 1, development: 4, differences: [], leftOff: 0, whole: true },
    // All time-stamps are of the development authority.
    ...{ renewed: [], validUntil: null },
  });
});

test('evidence still verifies after checks were deleted', async () => {
  await run(`DELETE FROM "check"`);
  expect(await ground.verify()).toMatchObject({ anchors: 3, leaves: 175, differences: [] });
});

test.each<[string, string, string[]]>([
  ['a bit of a check', `UPDATE "check" SET body = ${flipped('body', 3)} WHERE ${checkOf(7)}`, ['check_changed']],
  [
    'a check together with its hash',
    `UPDATE "check" SET body = ${flipped('body', 3)}, hash = sha256(${flipped('body', 3)}) WHERE ${checkOf(7)}`,
    ['check_changed'],
  ],
  [
    'a check together with its hash and its leaf',
    `WITH c AS (UPDATE "check" SET body = ${flipped('body', 3)}, hash = sha256(${flipped('body', 3)}) WHERE ${checkOf(7)}
       RETURNING id, hash)
     UPDATE anchor_leaf l SET hash = c.hash FROM c WHERE l.check_id = c.id`,
    ['anchor_root'],
  ],
  ['a leaf', `UPDATE anchor_leaf SET hash = ${flipped('hash', 0)} WHERE ${leaf(7)}`, ['anchor_root', 'check_changed']],
  ['the last leaf gone', `DELETE FROM anchor_leaf WHERE ${leaf(99)}`, ['anchor_leaves', 'anchor_root', 'no_leaf']],
  ['a leaf in the middle gone', `DELETE FROM anchor_leaf WHERE ${leaf(7)}`, ['anchor_leaves', 'no_leaf']],
  [
    'a leaf too many',
    `INSERT INTO anchor_leaf VALUES ('${newUuid()}', sha256('x'), 1, 100)`,
    ['anchor_leaves', 'anchor_root'],
  ],
  ['a leaf before the first', `INSERT INTO anchor_leaf VALUES ('${newUuid()}', sha256('x'), 1, -1)`, ['anchor_leaves']],
  [
    'a leaf moved out of its anchor',
    `UPDATE anchor_leaf SET anchor_seq = NULL, leaf_index = NULL WHERE ${leaf(99)}`,
    ['anchor_leaves', 'anchor_root'],
  ],
  [
    'two leaves that changed places',
    `WITH swapped AS (SELECT check_id, 13 - leaf_index AS place FROM anchor_leaf WHERE anchor_seq = 1 AND leaf_index IN (6, 7)),
       gone AS (SELECT array_agg(check_id) FROM swapped)
     UPDATE anchor_leaf l SET hash = o.hash FROM swapped s JOIN anchor_leaf o ON o.anchor_seq = 1 AND o.leaf_index = s.place
     WHERE l.check_id = s.check_id`,
    ['anchor_root', 'check_changed'],
  ],
  ['a live check without a leaf', `DELETE FROM anchor_leaf WHERE anchor_seq IS NULL`, ['no_leaf']],
  [
    'a check that is not anchored yet',
    `UPDATE "check" SET body = ${flipped('body', 3)} WHERE id IN (SELECT check_id FROM anchor_leaf WHERE anchor_seq IS NULL)`,
    ['unanchored_differs'],
  ],
  ['a stored node', `UPDATE anchor_node SET hashes = ${flipped('hashes', 40)} WHERE anchor_seq = 1`, ['anchor_nodes']],
  ['stored nodes gone', `DELETE FROM anchor_node WHERE anchor_seq = 3`, ['anchor_nodes']],
  [
    'the root of a row',
    `UPDATE anchor SET root = ${flipped('root', 0)} WHERE seq = 2`,
    ['anchor_columns', 'anchor_root'],
  ],
  ['the range of the leaves of a row', `UPDATE anchor SET last_leaf = first_leaf WHERE seq = 1`, ['anchor_columns']],
  ['the size of a row', `UPDATE anchor SET tree_size = 6 WHERE seq = 2`, ['anchor_columns', 'anchor_leaves']],
  [
    'the time of a row',
    `UPDATE anchor SET closed_at = closed_at - interval '1 day' WHERE seq = 2`,
    ['anchor_columns', 'check_late'],
  ],
  [
    'the link of a row',
    `UPDATE anchor SET prev_anchor_hash = ${flipped('prev_anchor_hash', 0)} WHERE seq = 2`,
    ['anchor_columns'],
  ],
  ['the hash of an anchor', `UPDATE anchor SET hash = ${flipped('hash', 0)} WHERE seq = 2`, ['anchor_hash']],
  [
    'a bit of an anchor’s form',
    `UPDATE anchor SET body = ${flipped('body', 2)} WHERE seq = 2`,
    ['anchor_chain', 'anchor_form', 'anchor_hash', 'anchor_stamp'],
  ],
  [
    'an anchor rewritten with all that depends on it',
    `UPDATE anchor SET closed_at = closed_at - interval '1 ms', hash = sha256(replaced.body), body = replaced.body
     FROM (SELECT seq, convert_to(replace(convert_from(body, 'UTF8'), to_char(closed_at, 'MS"Z"'),
       to_char(closed_at - interval '1 ms', 'MS"Z"')), 'UTF8') AS body FROM anchor) AS replaced
     WHERE replaced.seq = anchor.seq AND anchor.seq = 2`,
    ['anchor_chain', 'anchor_stamp'],
  ],
  ['an anchor in the middle gone', `DELETE FROM anchor WHERE seq = 2`, ['anchor_chain', 'unknown_anchor']],
  ['the last anchor gone', `DELETE FROM anchor WHERE seq = 3`, ['unknown_anchor']],
  [
    'a bit of an anchor’s token',
    `UPDATE stamp SET token = ${flipped('token', 700)} WHERE kind = 'anchor'`,
    ['anchor_stamp'],
  ],
  [
    'tokens of two anchors swapped',
    `UPDATE stamp s SET token = o.token, gen_time = o.gen_time, serial = o.serial
     FROM stamp o WHERE s.kind = 'anchor' AND o.kind = 'anchor' AND s.subject_id <> o.subject_id`,
    ['anchor_stamp'],
  ],
  [
    'what is noted of a token',
    `UPDATE stamp SET gen_time = gen_time - interval '1 day' WHERE kind = 'anchor'`,
    ['anchor_stamp'],
  ],
  [
    'that a token is of the development authority',
    `UPDATE stamp SET development = false WHERE kind = 'check'`,
    ['check_stamp'],
  ],
  ['a stamp gone', `DELETE FROM stamp WHERE kind = 'anchor'`, ['anchor_stamp']],
  [
    'a bit of a check’s token',
    `UPDATE stamp SET token = ${flipped('token', 700)} WHERE kind = 'check'`,
    ['check_stamp'],
  ],
  [
    'an anchor closed after its token',
    `UPDATE anchor SET closed_at = closed_at + interval '7 minutes' WHERE seq = 2`,
    ['anchor_columns', 'anchor_stamp'],
  ],
  [
    'a check made after its token, and after its anchor was closed',
    `UPDATE "check" SET checked_at = checked_at + interval '7 minutes' WHERE ${checkOf(0)}`,
    ['check_late', 'check_stamp'],
  ],
  [
    'what a check’s stamp is of',
    `UPDATE stamp SET digest = ${flipped('digest', 0)} WHERE kind = 'check'`,
    ['check_stamp'],
  ],
])('%s is found', async (_what, tamper, found) => {
  expect(await run(tamper)).toBeGreaterThan(0);
  expect(await kinds()).toEqual(found);
});

test('the last anchor gone is found also where its checks are gone by rights', async () => {
  await run(`DELETE FROM "check"`);
  await run('DELETE FROM anchor WHERE seq = 3');
  expect(await kinds()).toEqual(['unknown_anchor']);
});

test('a difference names the anchor and the check', async () => {
  await run(`UPDATE "check" SET body = ${flipped('body', 3)} WHERE ${checkOf(7)}`);
  const [row] = await ground.db.$queryRaw<{ check_id: string }[]>`
    SELECT check_id FROM anchor_leaf WHERE anchor_seq = 1 AND leaf_index = 7`;
  expect((await ground.verify()).differences).toEqual([
    {
      kind: 'check_changed',
      anchor_seq: 1,
      check_id: publicId('check', row?.check_id ?? ''),
      detail: 'the body of the check is not what was anchored',
    },
  ]);
});

test('a second leaf in the last place of a page is found', async () => {
  await ground.insertChecks(2_000);
  const closing = await ground.close();
  if (closing.kind !== 'closed') throw new Error('not closed');
  await ground.stamp(closing.anchor.id);
  const { seq } = closing.anchor;
  await run(`INSERT INTO anchor_leaf VALUES ('${newUuid()}', sha256('x'), ${seq}, 1999)`);
  expect(await kinds()).toEqual(['anchor_leaves']);
});

test('an aborted verification reports that it is partial', async () => {
  const { differences, whole } = await ground.verify(AbortSignal.abort());
  expect([differences, whole]).toEqual([[], false]);
});

test('differences without end are counted and not all listed', async () => {
  await ground.insertChecks(300);
  await run(`DELETE FROM anchor_leaf WHERE anchor_seq IS NULL`);
  const { differences, leftOff } = await ground.verify();
  expect([differences.length, leftOff]).toEqual([200, 102]);
});
