import { type AccountLeases, MAX_DOWNLOADS } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';

const heldIn = (db: Queryable, table: Prisma.Sql): Pick<AccountLeases, 'renew' | 'release'> => ({
  renew: async (accountId, holder, forMs) => {
    const renewed = await db.$executeRaw`
      UPDATE ${table} SET expires_at = clock_timestamp() + ${forMs}::int * interval '1 millisecond'
      WHERE account_id = ${accountId}::uuid AND holder = ${holder}::uuid`;
    return renewed > 0;
  },
  release: async (accountId, holder) => {
    await db.$executeRaw`DELETE FROM ${table} WHERE account_id = ${accountId}::uuid AND holder = ${holder}::uuid`;
  },
});

/** Leases on exports, one per account, by the clock of the database, since the clocks of the processes may differ. */
export const exportLeases = (db: Queryable): AccountLeases => ({
  ...heldIn(db, Prisma.sql`export_lease`),
  take: async (accountId, holder, forMs) => {
    const taken = await db.$executeRaw`
      INSERT INTO export_lease (account_id, holder, expires_at)
      VALUES (${accountId}::uuid, ${holder}::uuid, clock_timestamp() + ${forMs}::int * interval '1 millisecond')
      ON CONFLICT (account_id) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
      WHERE export_lease.expires_at <= clock_timestamp()`;
    return taken > 0;
  },
});

/** Leases on downloads of results, {@link MAX_DOWNLOADS} per account, by the clock of the database. */
export const downloadLeases = (db: Queryable): AccountLeases => ({
  ...heldIn(db, Prisma.sql`download_lease`),
  take: async (accountId, holder, forMs) => {
    // One number after the other: of two concurrent calls, the one that finds the first taken tries the second.
    for (let number = 1; number <= MAX_DOWNLOADS; number += 1) {
      const taken = await db.$executeRaw`
        INSERT INTO download_lease (account_id, place, holder, expires_at)
        VALUES (${accountId}::uuid, ${number}::int, ${holder}::uuid,
          clock_timestamp() + ${forMs}::int * interval '1 millisecond')
        ON CONFLICT (account_id, place) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
        WHERE download_lease.expires_at <= clock_timestamp()`;
      if (taken > 0) return true;
    }
    return false;
  },
});
