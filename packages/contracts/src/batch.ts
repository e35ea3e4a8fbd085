import {
  BATCH_STATUSES,
  type Batch,
  type BatchForecast,
  type BatchLine,
  LINE_STATUSES,
  MEMBER_STATES,
  NO_FORECAST,
  publicId,
  VERDICTS,
} from '@vat/domain';
import { z } from 'zod';
import { pageQuery, validFilter } from './lists.js';
import { count, idOf, instant, printable, requesterText } from './text.js';
import { fileName, lineError, lineFields, sheetName } from './upload.js';

/** The fields that accompany a batch's file, in the form or in the query. */
export const batchFields = z.strictObject({
  label: printable(100).optional().describe('Your own name for the batch, 1 to 100 printable characters.'),
  requester_vat_number: requesterText().describe(
    'Your own VAT number, for all lines without a requester of their own.',
  ),
  sheet: sheetName(),
});

/** Query of GET /v1/batches/{id}/lines. */
export const lineListQuery = z.strictObject({
  ...pageQuery,
  status: z.enum(LINE_STATUSES).optional(),
  valid: validFilter(),
});

/** The batch object. */
export const batchSchema = z
  .strictObject({
    batch_id: idOf('batch'),
    object: z.literal('batch'),
    status: z.enum(BATCH_STATUSES),
    label: z.string().nullable(),
    file_name: fileName(),
    total: count('Lines of the file.'),
    done: count('Lines that have a check.'),
    failed: count('Lines that ended with an error. Once completed, done + failed = total.'),
    valid: count('Lines whose check is valid.'),
    invalid: count('Lines whose check is invalid or malformed. valid + invalid = done.'),
    eta: instant()
      .nullable()
      .describe(
        'When the batch will be completed, estimated from what its member states do now and did at this hour of past days. Null when unknown, as while one of them is down, and once completed.',
      ),
    waiting_for: z
      .array(z.enum(MEMBER_STATES))
      .describe('Member states of its queued lines that are down or saturated now.'),
    created_at: instant(),
    completed_at: instant().nullable(),
  })
  .meta({ id: 'Batch', description: 'An uploaded file of VAT numbers.' });

/** One line of a batch. */
export const batchLineSchema = z
  .strictObject({
    ...lineFields(z.enum(LINE_STATUSES)),
    reference: z.string().nullable(),
    valid: z
      .boolean()
      .nullable()
      .describe('The result of the check. Null until the line is done, and for failed lines.'),
    verdict: z
      .enum(VERDICTS)
      .nullable()
      .describe('The verdict of the check. Null like `valid`, and once the check is deleted.'),
    name: z.string().nullable().describe('The name in the check. Null where the member state discloses none.'),
    check_id: idOf('check').nullable().describe('The check. Lines with the same number and requester share one.'),
    error: lineError().describe('Why the line has no check. Other lines are not affected.'),
  })
  .meta({ id: 'BatchLine', description: 'One row of the file.' });

/** The batch object. */
export const presentBatch = (
  batch: Batch,
  { eta, waitingFor }: BatchForecast = NO_FORECAST,
): z.input<typeof batchSchema> => ({
  batch_id: publicId('batch', batch.id),
  object: 'batch',
  status: batch.status,
  label: batch.label,
  file_name: batch.fileName,
  total: batch.total,
  done: batch.done,
  failed: batch.failed,
  valid: batch.valid,
  invalid: batch.invalid,
  eta: eta?.toISOString() ?? null,
  waiting_for: waitingFor,
  created_at: batch.createdAt.toISOString(),
  completed_at: batch.completedAt?.toISOString() ?? null,
});

/** A line of a batch. */
export const presentBatchLine = (line: BatchLine): z.input<typeof batchLineSchema> => ({
  line_id: publicId('line', line.id),
  line: line.line,
  status: line.status,
  input: line.input,
  vat_number: line.vatNumber,
  reference: line.reference,
  valid: line.valid,
  verdict: line.verdict,
  name: line.name,
  check_id: line.checkId === null ? null : publicId('check', line.checkId),
  error: line.error && { code: line.error.code, message: line.error.message },
});
