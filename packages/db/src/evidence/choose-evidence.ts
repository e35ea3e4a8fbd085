import type { ChooseEvidence, ChosenCheck, EvidenceChoice } from '@vat/domain';
import type { ConnectedReader } from '../connect-reader.js';
import { Prisma } from '../generated/client.js';

type CheckRow = { id: string; anchor_seq: number | null; stamped: boolean };

const within = (column: Prisma.Sql, { from, to }: EvidenceChoice): Prisma.Sql[] => [
  ...(from ? [Prisma.sql`${column} >= ${from}::timestamptz`] : []),
  ...(to ? [Prisma.sql`${column} < ${to}::timestamptz`] : []),
];
const about = (row: Prisma.Sql, { vatNumber, reference }: EvidenceChoice): Prisma.Sql[] => [
  ...(vatNumber === null ? [] : [Prisma.sql`${row}.vat_number = ${vatNumber}`]),
  ...(reference === null ? [] : [Prisma.sql`${row}.reference = ${reference}`]),
];
const all = (conditions: readonly Prisma.Sql[]): Prisma.Sql => Prisma.join([...conditions], ' AND ');

const chosen = ({ id, anchor_seq, stamped }: CheckRow): ChosenCheck => ({ id, anchorSeq: anchor_seq, stamped });

/**
 * Chooses the evidence of an account in one short transaction with one snapshot, so that nothing is held open while a client
 * takes its time; of each list so many rows at most. A watch has no reference: where one is asked for, its changes are left out.
 */
export const chooseEvidence =
  ({ snapshot }: Pick<ConnectedReader, 'snapshot'>): ChooseEvidence =>
  (accountId, choice, limit) =>
    snapshot(async (tx) => {
      const [account] = await tx.$queryRaw<{ name: string }[]>`SELECT name FROM account WHERE id = ${accountId}::uuid`;
      const accountName = account?.name ?? '';
      // The limit comes before the order: where it is passed nobody wants the rows, and sorting all of them would be slow.
      const checks = await tx.$queryRaw<CheckRow[]>`
          SELECT c.id, l.anchor_seq, s.token IS NOT NULL AS stamped
          FROM (
            SELECT c.id FROM "check" c WHERE ${all([
              Prisma.sql`c.account_id = ${accountId}::uuid AND NOT c.test`,
              ...within(Prisma.sql`c.checked_at`, choice),
              ...about(Prisma.sql`c`, choice),
            ])} LIMIT ${limit}::int
          ) AS c LEFT JOIN anchor_leaf l ON l.check_id = c.id LEFT JOIN stamp s ON s.subject_id = c.id ORDER BY c.id`;
      if (checks.length >= limit)
        return { accountName, checks: checks.map(chosen), requests: [], anchors: [], changes: [] };
      const requests = await tx.$queryRaw<{ id: string }[]>`
          SELECT r.id FROM (
            SELECT r.id FROM request r WHERE ${all([
              Prisma.sql`r.account_id = ${accountId}::uuid AND r.check_id IS NULL AND NOT r.test`,
              ...within(Prisma.sql`r.created_at`, choice),
              ...about(Prisma.sql`r`, choice),
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
                    ...within(Prisma.sql`x.changed_at`, choice),
                    ...about(Prisma.sql`w`, choice),
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
