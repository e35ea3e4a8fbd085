import type { NewEvent } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { tellAccount } from '../event-sql.js';
import { Prisma } from '../generated/client.js';

/** `test`: whether a test key asked for it. */
export type TestEvent = { accountId: string; test: boolean; event: NewEvent; deliveryId: string; now: Date };

/** Writes a webhook.test event, its own subject, with its delivery; false, and nothing is written, without an endpoint. */
export const sendTestEvent =
  (db: Queryable) =>
  async ({ accountId, test, event, deliveryId, now }: TestEvent): Promise<boolean> => {
    const about = Prisma.sql`
      SELECT ${event.id}::uuid, account_id, ${test}::boolean FROM webhook WHERE account_id = ${accountId}::uuid`;
    const sent = await db.$queryRaw<unknown[]>`WITH ${tellAccount(event, deliveryId, now, about)} SELECT id FROM sent`;
    return sent.length > 0;
  };
