import type { Watch } from '@vat/domain';
import type { Database } from '../connect-database.js';
import { WATCH_COLUMNS } from './watch-columns.js';

/**
 * Changes a watch: `amend` gets it and the number of the account's other active watches, and returns it as it is to be;
 * what it throws changes nothing. The account's row is locked first, so that the number stays true. `null` when there is
 * no such watch, or it is another account's.
 */
export const changeWatch =
  (db: Database) =>
  (id: string, accountId: string, amend: (watch: Watch, otherActive: number) => Watch): Promise<Watch | null> =>
    db.$transaction(async (tx) => {
      await tx.$queryRaw`SELECT 1 FROM account WHERE id = ${accountId}::uuid FOR NO KEY UPDATE`;
      const [watch] = await tx.$queryRaw<Watch[]>`
        SELECT ${WATCH_COLUMNS} FROM watch w WHERE w.id = ${id}::uuid AND w.account_id = ${accountId}::uuid FOR UPDATE`;
      if (!watch) return null;
      const [others] = await tx.$queryRaw<{ n: number }[]>`
        SELECT count(*)::int AS n FROM watch
        WHERE account_id = ${accountId}::uuid AND state = 'active' AND id <> ${id}::uuid`;
      const amended = amend(watch, others?.n ?? 0);
      await tx.$executeRaw`
        UPDATE watch SET label = ${amended.label}, frequency = ${amended.frequency}, state = ${amended.state},
          next_check_at = ${amended.nextCheckAt}::timestamptz WHERE id = ${id}::uuid`;
      return amended;
    });
