import type { Reader, StoredCheck } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';

export type CheckFilter = {
  vatNumber?: string | undefined;
  valid?: boolean | undefined;
  /** Inclusive. */
  from?: Date | undefined;
  /** Exclusive. */
  to?: Date | undefined;
  reference?: string | undefined;
};

/** Checks that `reader` may read before `beforeId`, newest first. Ids are time-ordered, so the id is the whole keyset. */
export const listChecks =
  (db: Queryable) =>
  async (reader: Reader, filter: CheckFilter, beforeId: string | null, limit: number): Promise<StoredCheck[]> => {
    const conditions = [
      Prisma.sql`account_id = ${reader.accountId}::uuid`,
      // Not as a parameter: the index of test checks serves only a statement that names them.
      ...(reader.testOnly ? [Prisma.sql`test`] : []),
      ...(beforeId ? [Prisma.sql`id < ${beforeId}::uuid`] : []),
      ...(filter.vatNumber === undefined ? [] : [Prisma.sql`vat_number = ${filter.vatNumber}`]),
      ...(filter.valid === undefined ? [] : [Prisma.sql`valid = ${filter.valid}`]),
      ...(filter.from ? [Prisma.sql`checked_at >= ${filter.from}::timestamptz`] : []),
      ...(filter.to ? [Prisma.sql`checked_at < ${filter.to}::timestamptz`] : []),
      ...(filter.reference === undefined ? [] : [Prisma.sql`reference = ${filter.reference}`]),
    ];
    return db.$queryRaw<StoredCheck[]>`
      SELECT id, body AS bytes, hash FROM "check" WHERE ${Prisma.join(conditions, ' AND ')}
      ORDER BY id DESC LIMIT ${limit}::int`;
  };
