import { Prisma } from '../generated/client.js';

/** The columns of the domain's watch, for a query that calls `watch` w; spelt out, so that a named statement survives a migration. */
export const WATCH_COLUMNS = Prisma.sql`w.id, w.account_id AS "accountId", w.vat_number AS "vatNumber", w.label, w.frequency,
  w.state, w.created_at AS "createdAt", w.next_check_at AS "nextCheckAt", w.request_id AS "requestId",
  w.last_check_id AS "lastCheckId", w.last_checked_at AS "lastCheckedAt"`;
