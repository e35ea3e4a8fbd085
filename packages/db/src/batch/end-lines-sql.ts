import { type AbandonReason, LINE_ENDINGS } from '@vat/domain';
import { Prisma } from '../generated/client.js';

/** The CTE `lines`: the lines of a request that got its check (the CTE `done`) are done. It returns `batch_id`. */
export const endLines = (check: { id: string; valid: boolean }): Prisma.Sql => Prisma.sql`
  lines AS (
    UPDATE batch_line l SET status = 'done', check_id = ${check.id}::uuid, valid = ${check.valid}
    FROM done WHERE l.request_id = done.id AND l.status = 'queued'
    RETURNING l.batch_id
  )`;

/** The CTE `lines`: the lines of a request that ended without a check (the CTE `gone`) have failed. It returns `batch_id`. */
export const failLines = (reason: AbandonReason): Prisma.Sql => Prisma.sql`
  lines AS (
    UPDATE batch_line l SET status = 'failed', error_code = ${LINE_ENDINGS[reason].code},
      error_message = ${LINE_ENDINGS[reason].message}
    FROM gone WHERE l.request_id = gone.id AND l.status = 'queued'
    RETURNING l.batch_id
  )`;
