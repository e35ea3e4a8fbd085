import type { Watch } from '@vat/domain';
import type { Database, Queryable } from '../connect-database.js';
import { WATCH_COLUMNS } from './watch-columns.js';

const countActive = async (tx: Queryable, accountId: string): Promise<number> => {
  const [active] = await tx.$queryRaw<{ n: number }[]>`
    SELECT count(*)::int AS n FROM watch WHERE account_id = ${accountId}::uuid AND state = 'active'`;
  return active?.n ?? 0;
};

/**
 * Changes a watch: `amend` gets it and, of a paused one, the number of the account's active watches (there can be 50 000 to
 * count, and only resuming asks for it), and returns it as it is to be;
 * what it throws changes nothing. The account's row is locked first, so that the number stays true. `null` when there is
 * no such watch, or it is another account's.
 */
export const changeWatch =
  (db: Database) =>
  (id: string, accountId: string, amend: (watch: Watch, active: number | null) => Watch): Promise<Watch | null> =>
    db.$transaction(async (tx) => {
      await tx.$queryRaw`SELECT 1 FROM account WHERE id = ${accountId}::uuid FOR NO KEY UPDATE`;
      const [watch] = await tx.$queryRaw<Watch[]>`
        SELECT ${WATCH_COLUMNS} FROM watch w WHERE w.id = ${id}::uuid AND w.account_id = ${accountId}::uuid FOR UPDATE`;
      if (!watch) return null;
      const amended = amend(watch, watch.state === 'paused' ? await countActive(tx, accountId) : null);
      await tx.$executeRaw`
        UPDATE watch SET label = ${amended.label}, frequency = ${amended.frequency}, state = ${amended.state},
          next_check_at = ${amended.nextCheckAt}::timestamptz WHERE id = ${id}::uuid`;
      return amended;
    });
