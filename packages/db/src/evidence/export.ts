import type {
  AccountChange,
  CheckEntry,
  CheckEvidence,
  ChooseEvidence,
  EvidenceChoice,
  FindEvidence,
  Reader as OfReader,
  ReadEvidence,
  RequestState,
  StoredCheck,
} from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import type { ConnectedReader } from '../connect-reader.js';
import { Prisma } from '../generated/client.js';
import { all, columns, isOneOf, query, type Reader, type RowOf, selectList, typed } from '../query.js';
import { readExchanges } from '../request/exchanges.js';
import { DAY_MS, idAt, idsOfPeriod, NIL } from '../uuid-bounds.js';
import { ACCOUNT_CHANGE, ACCOUNT_CHANGE_LIST } from '../watch/watches.js';
import { FACTS, FACTS_LIST, splitFacts } from './timestamps.js';

const EXPORTED_CHECK = columns({ id: 'uuid', requestId: 'uuid', bytes: 'bytea', hash: 'bytea', token: 'bytea?' });
const EXPORTED_REQUEST = columns({
  id: 'uuid',
  vatNumber: 'text',
  ...all('text?', 'requester', 'reference', 'lastError', 'reason'),
  state: typed<RequestState>('text'),
  createdAt: 'timestamptz',
  ...all('timestamptz?', 'acceptedAt', 'giveUpAt', 'endedAt'),
  attempts: 'int4',
  entries: typed<CheckEntry[]>('jsonb'),
});
const EVIDENCE = columns({
  anchorId: 'uuid?',
  ...all('int4?', 'seq', 'leafIndex', 'treeSize'),
  ...FACTS,
});

/**
 * Also by the id, which the indexes of an account contain. `recordedLater`: ids are made when a row is recorded, which may be long
 * after its time.
 */
const inPeriod = (
  column: Prisma.Sql,
  id: Prisma.Sql,
  { from, to }: EvidenceChoice,
  { recordedLater = false } = {},
): Prisma.Sql[] => {
  const ids = idsOfPeriod({ from, to });
  return [
    ...(from ? [Prisma.sql`${column} >= ${from}::timestamptz`] : []),
    ...(to ? [Prisma.sql`${column} < ${to}::timestamptz`] : []),
    ...(ids.from ? [Prisma.sql`${id} >= ${ids.from}::uuid`] : []),
    ...(ids.below && !recordedLater ? [Prisma.sql`${id} < ${ids.below}::uuid`] : []),
  ];
};
/** Lower than the ids of rows from the period on, so that only the partitions of that time are read. */
const lowestId = ({ from }: EvidenceChoice): string => (from ? idAt(new Date(from.getTime() - DAY_MS)) : NIL);
const matching = (row: Prisma.Sql, { vatNumber, reference }: EvidenceChoice): Prisma.Sql[] => [
  ...(vatNumber === null ? [] : [Prisma.sql`${row}.vat_number = ${vatNumber}`]),
  ...(reference === null ? [] : [Prisma.sql`${row}.reference = ${reference}`]),
];
type ChosenAnchor = { seq: number; stamped: boolean };

const and = (conditions: readonly Prisma.Sql[]): Prisma.Sql => Prisma.join([...conditions], ' AND ');

export const anchorsOf = (tx: Reader, checks: readonly { anchorSeq: number | null }[]): Promise<ChosenAnchor[]> => {
  const seqs = [...new Set(checks.flatMap(({ anchorSeq }) => anchorSeq ?? []))];
  return query(tx, { seq: 'int4', stamped: 'bool' })`
    SELECT a.seq, s.token IS NOT NULL AS stamped FROM anchor a LEFT JOIN stamp s ON s.subject_id = a.id
    WHERE a.seq = ANY(${seqs}::int[]) ORDER BY a.seq`;
};

/**
 * Selects the evidence of an account in one short transaction with one snapshot, so that no transaction stays open during
 * a slow download. Each list has at most `limit` rows. Watches have no reference: with a reference, changes are left out.
 */
export const chooseEvidence =
  ({ snapshot }: Pick<ConnectedReader, 'snapshot'>): ChooseEvidence =>
  (accountId, choice, limit) =>
    snapshot(async (tx) => {
      const [account] = await query(tx, { name: 'text' })`SELECT name FROM account WHERE id = ${accountId}::uuid`;
      const accountName = account?.name ?? '';
      const lowest = lowestId(choice);
      // The limit applies before the sort: when it is reached the rows are not used, and sorting all of them would be slow.
      const checks = await query(tx, { id: 'uuid', anchorSeq: 'int4?', stamped: 'bool' })`
          SELECT c.id, l.anchor_seq AS "anchorSeq", s.token IS NOT NULL AS stamped
          FROM (
            SELECT c.id FROM "check" c WHERE ${and([
              Prisma.sql`c.account_id = ${accountId}::uuid AND NOT c.test`,
              ...inPeriod(Prisma.sql`c.checked_at`, Prisma.sql`c.id`, choice),
              ...matching(Prisma.sql`c`, choice),
            ])} LIMIT ${limit}::int
          ) AS c LEFT JOIN anchor_leaf l ON l.check_id = c.id AND l.check_id >= ${lowest}::uuid
            LEFT JOIN stamp s ON s.subject_id = c.id ORDER BY c.id`;
      if (checks.length >= limit) return { accountName, checks, requests: [], anchors: [], changes: [] };
      const requests = await query(tx, { id: 'uuid' })`
          SELECT r.id FROM (
            SELECT r.id FROM request r WHERE ${and([
              Prisma.sql`r.account_id = ${accountId}::uuid AND r.check_id IS NULL AND NOT r.test`,
              ...inPeriod(Prisma.sql`r.created_at`, Prisma.sql`r.id`, choice),
              ...matching(Prisma.sql`r`, choice),
            ])} LIMIT ${limit}::int
          ) AS r ORDER BY r.id`;
      const anchors = await anchorsOf(tx, checks);
      const changes =
        choice.reference !== null
          ? []
          : await query(tx, { id: 'uuid' })`
                SELECT x.id FROM (
                  SELECT x.id FROM watch_change x JOIN watch w ON w.id = x.watch_id WHERE ${and([
                    Prisma.sql`w.account_id = ${accountId}::uuid`,
                    ...inPeriod(Prisma.sql`x.changed_at`, Prisma.sql`x.id`, choice, { recordedLater: true }),
                    ...matching(Prisma.sql`w`, choice),
                  ])} LIMIT ${limit}::int
                ) AS x ORDER BY x.id`;
      return {
        accountName,
        checks,
        requests: requests.map(({ id }) => id),
        anchors,
        changes: changes.map(({ id }) => id),
      };
    });

/** Reads the rows of an export by id, in no particular order. The caller ensures that the ids belong to the account. */
export const readEvidence = (db: Reader): ReadEvidence => ({
  checks: (ids) => query(db, EXPORTED_CHECK)`
    SELECT c.id, c.request_id AS "requestId", c.body AS bytes, c.hash, s.token
    FROM "check" c LEFT JOIN stamp s ON s.subject_id = c.id WHERE ${isOneOf(Prisma.sql`c.id`, ids)}`,
  requests: (ids) => query(db, EXPORTED_REQUEST)`
    SELECT ${selectList('r', EXPORTED_REQUEST)} FROM request r WHERE ${isOneOf(Prisma.sql`id`, ids)}`,
  exchanges: readExchanges(db),
  anchors: (seqs) => query(db, { seq: 'int4', body: 'bytea', token: 'bytea?' })`
    SELECT a.seq, a.body, s.token FROM anchor a LEFT JOIN stamp s ON s.subject_id = a.id
    WHERE a.seq = ANY(${[...seqs]}::int[])`,
  anchorBodies: (seq, limit) => query(db, { seq: 'int4', body: 'bytea' })`
    SELECT seq, body FROM anchor WHERE seq > ${seq}::int ORDER BY seq LIMIT ${limit}::int`,
  lastStamped: async (seq, at) => {
    // One step through the index for each authority, of which there are few, instead of one for each anchor.
    const rows = await query(db, { seq: 'int4' })`
      WITH RECURSIVE issuer AS (
        (SELECT authority FROM stamp WHERE kind = 'anchor' AND authority IS NOT NULL ORDER BY authority LIMIT 1)
        UNION ALL
        SELECT (SELECT s.authority FROM stamp s WHERE s.kind = 'anchor' AND s.authority IS NOT NULL
            AND s.authority > i.authority ORDER BY s.authority LIMIT 1)
        FROM issuer i WHERE i.authority IS NOT NULL
      )
      SELECT a.seq FROM issuer i CROSS JOIN LATERAL (
        SELECT s.subject_id FROM stamp s WHERE s.kind = 'anchor' AND s.authority IS NOT NULL
          AND s.authority = i.authority AND s.gen_time <= ${at}::timestamptz ORDER BY s.gen_time DESC LIMIT 1
      ) s JOIN anchor a ON a.id = s.subject_id WHERE a.seq > ${seq}::int`;
    return rows.map((row) => row.seq);
  },
  changes: async (ids) => {
    const rows = await query(db, ACCOUNT_CHANGE)`
      SELECT ${ACCOUNT_CHANGE_LIST} FROM watch_change c JOIN watch w ON w.id = c.watch_id
      WHERE c.id = ANY(${[...ids]}::uuid[])`;
    return rows as AccountChange[];
  },
});

/** The columns {@link EVIDENCE} of the rows with the alias c, and the tables that they are in. */
const EVIDENCE_LIST = Prisma.sql`
  a.id AS "anchorId", a.seq, l.leaf_index AS "leafIndex", a.tree_size AS "treeSize", ${FACTS_LIST}`;
const evidenceOf = (checkId: Prisma.Sql, checkIds: readonly string[]): Prisma.Sql => Prisma.sql`
  LEFT JOIN anchor_leaf l ON l.check_id = ${checkId} AND ${isOneOf(Prisma.sql`l.check_id`, checkIds)}
  LEFT JOIN anchor a ON a.seq = l.anchor_seq
  LEFT JOIN stamp s ON s.subject_id = ${checkId}`;

const evidenceIn = (row: RowOf<typeof EVIDENCE>): CheckEvidence => {
  const { facts: stamp, rest } = splitFacts(row);
  const { anchorId, seq, leafIndex, treeSize } = rest;
  const anchored = anchorId !== null && seq !== null && leafIndex !== null && treeSize !== null;
  return { stamp, anchor: anchored ? { anchorId, seq, leafIndex, treeSize } : null };
};

/** The time-stamp and anchor of checks. The caller ensures that the checks belong to the account. */
export const findEvidence =
  (db: Queryable): FindEvidence =>
  async (checkIds) => {
    const rows = await query(db, { checkId: 'uuid', ...EVIDENCE })`
      SELECT c.check_id AS "checkId", ${EVIDENCE_LIST}
      FROM unnest(${[...checkIds]}::uuid[]) AS c(check_id) ${evidenceOf(Prisma.sql`c.check_id`, checkIds)}`;
    return new Map(rows.map((row) => [row.checkId, evidenceIn(row)]));
  };

/** One check with its time-stamp and anchor, in one statement; `null` when there is none that `reader` may read. */
export const findCheckWithEvidence =
  (db: Queryable) =>
  async (
    id: string,
    { accountId, testOnly }: OfReader,
  ): Promise<(StoredCheck & { evidence: CheckEvidence }) | null> => {
    const [row] = await query(db, { id: 'uuid', bytes: 'bytea', hash: 'bytea', ...EVIDENCE })`
      SELECT c.id, c.body AS bytes, c.hash, ${EVIDENCE_LIST}
      FROM "check" c ${evidenceOf(Prisma.sql`c.id`, [id])}
      WHERE c.id = ${id}::uuid AND c.account_id = ${accountId}::uuid AND (c.test OR NOT ${testOnly}::boolean)`;
    return row ? { id: row.id, bytes: row.bytes, hash: row.hash, evidence: evidenceIn(row) } : null;
  };
