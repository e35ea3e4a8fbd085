import { type AccountLeases, MAX_DOWNLOADS } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

/** Leases on exports, one per account, by the clock of the database, since the clocks of the processes may differ. */
export const exportLeases = (db: Queryable): AccountLeases => ({
  take: async (accountId, holder, forMs) => {
    const taken = await db.$executeRaw`
      INSERT INTO export_lease (account_id, holder, expires_at)
      VALUES (${accountId}::uuid, ${holder}::uuid, clock_timestamp() + ${forMs}::int * interval '1 millisecond')
      ON CONFLICT (account_id) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
      WHERE export_lease.expires_at <= clock_timestamp()`;
    return taken > 0;
  },
  renew: async (accountId, holder, forMs) => {
    const renewed = await db.$executeRaw`
      UPDATE export_lease SET expires_at = clock_timestamp() + ${forMs}::int * interval '1 millisecond'
      WHERE account_id = ${accountId}::uuid AND holder = ${holder}::uuid`;
    return renewed > 0;
  },
  release: async (accountId, holder) => {
    await db.$executeRaw`
      DELETE FROM export_lease WHERE account_id = ${accountId}::uuid AND holder = ${holder}::uuid`;
  },
});

/** Leases on downloads of results, {@link MAX_DOWNLOADS} per account, by the clock of the database. */
export const downloadLeases = (db: Queryable): AccountLeases => ({
  take: async (accountId, holder, forMs) => {
    // One place after the other: of two concurrent calls, the one that finds the first place taken tries the second.
    for (let place = 1; place <= MAX_DOWNLOADS; place += 1) {
      const taken = await db.$executeRaw`
        INSERT INTO download_lease (account_id, place, holder, expires_at)
        VALUES (${accountId}::uuid, ${place}::int, ${holder}::uuid,
          clock_timestamp() + ${forMs}::int * interval '1 millisecond')
        ON CONFLICT (account_id, place) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
        WHERE download_lease.expires_at <= clock_timestamp()`;
      if (taken > 0) return true;
    }
    return false;
  },
  renew: async (accountId, holder, forMs) => {
    const renewed = await db.$executeRaw`
      UPDATE download_lease SET expires_at = clock_timestamp() + ${forMs}::int * interval '1 millisecond'
      WHERE account_id = ${accountId}::uuid AND holder = ${holder}::uuid`;
    return renewed > 0;
  },
  release: async (accountId, holder) => {
    await db.$executeRaw`
      DELETE FROM download_lease WHERE account_id = ${accountId}::uuid AND holder = ${holder}::uuid`;
  },
});
