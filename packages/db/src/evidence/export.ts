import type {
  ChooseEvidence,
  ChosenCheck,
  EvidenceChoice,
  ExportedChange,
  ExportedCheck,
  ExportedRequest,
  FindEvidence,
  ReadEvidence,
} from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import type { ConnectedReader, Reader } from '../connect-reader.js';
import { Prisma } from '../generated/client.js';
import { readExchanges } from '../request/exchanges.js';
import { FACTS_COLUMNS, type FactsRow, factsOfRow } from './timestamps.js';

type CheckRow = { id: string; anchor_seq: number | null; stamped: boolean };

const inPeriod = (column: Prisma.Sql, { from, to }: EvidenceChoice): Prisma.Sql[] => [
  ...(from ? [Prisma.sql`${column} >= ${from}::timestamptz`] : []),
  ...(to ? [Prisma.sql`${column} < ${to}::timestamptz`] : []),
];
const matching = (row: Prisma.Sql, { vatNumber, reference }: EvidenceChoice): Prisma.Sql[] => [
  ...(vatNumber === null ? [] : [Prisma.sql`${row}.vat_number = ${vatNumber}`]),
  ...(reference === null ? [] : [Prisma.sql`${row}.reference = ${reference}`]),
];
const all = (conditions: readonly Prisma.Sql[]): Prisma.Sql => Prisma.join([...conditions], ' AND ');

const chosen = ({ id, anchor_seq, stamped }: CheckRow): ChosenCheck => ({ id, anchorSeq: anchor_seq, stamped });

/**
 * Selects the evidence of an account in one short transaction with one snapshot, so that no transaction stays open during
 * a slow download. Each list has at most `limit` rows. Watches have no reference: with a reference, changes are left out.
 */
export const chooseEvidence =
  ({ snapshot }: Pick<ConnectedReader, 'snapshot'>): ChooseEvidence =>
  (accountId, choice, limit) =>
    snapshot(async (tx) => {
      const [account] = await tx.$queryRaw<{ name: string }[]>`SELECT name FROM account WHERE id = ${accountId}::uuid`;
      const accountName = account?.name ?? '';
      // The limit applies before the sort: when it is reached the rows are not used, and sorting all of them would be slow.
      const checks = await tx.$queryRaw<CheckRow[]>`
          SELECT c.id, l.anchor_seq, s.token IS NOT NULL AS stamped
          FROM (
            SELECT c.id FROM "check" c WHERE ${all([
              Prisma.sql`c.account_id = ${accountId}::uuid AND NOT c.test`,
              ...inPeriod(Prisma.sql`c.checked_at`, choice),
              ...matching(Prisma.sql`c`, choice),
            ])} LIMIT ${limit}::int
          ) AS c LEFT JOIN anchor_leaf l ON l.check_id = c.id LEFT JOIN stamp s ON s.subject_id = c.id ORDER BY c.id`;
      if (checks.length >= limit)
        return { accountName, checks: checks.map(chosen), requests: [], anchors: [], changes: [] };
      const requests = await tx.$queryRaw<{ id: string }[]>`
          SELECT r.id FROM (
            SELECT r.id FROM request r WHERE ${all([
              Prisma.sql`r.account_id = ${accountId}::uuid AND r.check_id IS NULL AND NOT r.test`,
              ...inPeriod(Prisma.sql`r.created_at`, choice),
              ...matching(Prisma.sql`r`, choice),
            ])} LIMIT ${limit}::int
          ) AS r ORDER BY r.id`;
      const seqs = [...new Set(checks.flatMap(({ anchor_seq }) => anchor_seq ?? []))];
      const anchors = await tx.$queryRaw<{ seq: number; stamped: boolean }[]>`
          SELECT a.seq, s.token IS NOT NULL AS stamped FROM anchor a LEFT JOIN stamp s ON s.subject_id = a.id
          WHERE a.seq = ANY(${seqs}::int[]) ORDER BY a.seq`;
      const changes =
        choice.reference !== null
          ? []
          : await tx.$queryRaw<{ id: string }[]>`
                SELECT x.id FROM (
                  SELECT x.id FROM watch_change x JOIN watch w ON w.id = x.watch_id WHERE ${all([
                    Prisma.sql`w.account_id = ${accountId}::uuid`,
                    ...inPeriod(Prisma.sql`x.changed_at`, choice),
                    ...matching(Prisma.sql`w`, choice),
                  ])} LIMIT ${limit}::int
                ) AS x ORDER BY x.id`;
      return {
        accountName,
        checks: checks.map(chosen),
        requests: requests.map(({ id }) => id),
        anchors,
        changes: changes.map(({ id }) => id),
      };
    });

/** Reads the rows of an export by id, in no particular order. The caller ensures that the ids belong to the account. */
export const readEvidence = (db: Reader): ReadEvidence => ({
  checks: (ids) => db.$queryRaw<ExportedCheck[]>`
    SELECT c.id, c.request_id AS "requestId", c.body AS bytes, c.hash, s.token
    FROM "check" c LEFT JOIN stamp s ON s.subject_id = c.id WHERE c.id = ANY(${[...ids]}::uuid[])`,
  requests: (ids) => db.$queryRaw<ExportedRequest[]>`
    SELECT id, vat_number AS "vatNumber", requester, reference, state, created_at AS "createdAt",
      accepted_at AS "acceptedAt", give_up_at AS "giveUpAt", ended_at AS "endedAt", attempts,
      last_error AS "lastError", reason, entries
    FROM request WHERE id = ANY(${[...ids]}::uuid[])`,
  exchanges: readExchanges(db),
  anchors: (seqs) => db.$queryRaw<{ seq: number; body: Uint8Array; token: Uint8Array | null }[]>`
    SELECT a.seq, a.body, s.token FROM anchor a LEFT JOIN stamp s ON s.subject_id = a.id
    WHERE a.seq = ANY(${[...seqs]}::int[])`,
  changes: (ids) => db.$queryRaw<ExportedChange[]>`
    SELECT x.id, x.watch_id AS "watchId", w.vat_number AS "vatNumber", w.label, x.kind, x.before, x.after,
      x.check_id AS "checkId", x.changed_at AS "changedAt"
    FROM watch_change x JOIN watch w ON w.id = x.watch_id WHERE x.id = ANY(${[...ids]}::uuid[])`,
});

type Row = FactsRow & {
  check_id: string;
  anchor_id: string | null;
  seq: number | null;
  leaf_index: number | null;
  tree_size: number | null;
};

/** The time-stamp and anchor of checks. The caller ensures that the checks belong to the account. */
export const findEvidence =
  (db: Queryable): FindEvidence =>
  async (checkIds) => {
    const rows = await db.$queryRaw<Row[]>`
      SELECT c.check_id, a.id AS anchor_id, a.seq, l.leaf_index, a.tree_size, ${FACTS_COLUMNS}
      FROM unnest(${[...checkIds]}::uuid[]) AS c(check_id)
      LEFT JOIN anchor_leaf l ON l.check_id = c.check_id LEFT JOIN anchor a ON a.seq = l.anchor_seq
      LEFT JOIN stamp s ON s.subject_id = c.check_id`;
    return new Map(
      rows.map(({ check_id, anchor_id, seq, leaf_index, tree_size, ...facts }) => [
        check_id,
        {
          stamp: factsOfRow(facts),
          anchor:
            anchor_id === null || seq === null || leaf_index === null || tree_size === null
              ? null
              : { anchorId: anchor_id, seq, leafIndex: leaf_index, treeSize: tree_size },
        },
      ]),
    );
  };
