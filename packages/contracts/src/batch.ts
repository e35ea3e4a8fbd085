import {
  BATCH_STATUSES,
  type Batch,
  type BatchLine,
  LINE_ERROR_CODES,
  LINE_STATUSES,
  publicId,
  stripUnsafeCharacters,
} from '@vat/domain';
import { z } from 'zod';
import { pageQuery } from './lists.js';
import { idOf, instant, printable } from './text.js';

/** What is sent beside a batch's file, as form fields or in the query. Source: contract part 2 §5. */
export const batchFields = z.strictObject({
  label: printable(100).optional().describe('Your own name for the batch, 1 to 100 printable characters.'),
  // No length is judged here: whatever is no VAT number is INVALID_REQUESTER and not BAD_REQUEST.
  requester_vat_number: z
    .string()
    .overwrite(stripUnsafeCharacters)
    .optional()
    .describe('Your own VAT number, for every line that names no requester of its own.'),
});

/** The form of POST /v1/batches, as the description shows it; the file is judged while it is read. */
export const batchForm = batchFields.extend({
  file: z.file().meta({
    openapi: { type: 'string', format: 'binary', description: 'The CSV file, at most 2 MiB and 10 000 rows.' },
  }),
});

/** Query of GET /v1/batches/{id}/lines. */
export const lineListQuery = z.strictObject({
  ...pageQuery,
  status: z.enum(LINE_STATUSES).optional(),
});

const DELIMITERS = { ',': ',', ';': ';', tab: '\t', '\t': '\t' } as const;

/** Query of GET /v1/batches/{id}/results.csv. */
export const resultsQuery = z.strictObject({
  delimiter: z
    .enum(Object.keys(DELIMITERS) as (keyof typeof DELIMITERS)[])
    .default(',')
    .transform((name) => DELIMITERS[name])
    .meta({ openapi: { type: 'string', enum: [',', ';', 'tab'], default: ',' } }),
  bom: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .meta({ openapi: { type: 'boolean', default: false } }),
});

const count = (what: string) => z.int().min(0).describe(what);

/** The batch object. Source: contract part 2 §5. */
export const batchSchema = z
  .strictObject({
    batch_id: idOf('batch'),
    object: z.literal('batch'),
    status: z.enum(BATCH_STATUSES),
    label: z.string().nullable(),
    file_name: z.string().nullable().describe('As it was sent, without folders.'),
    total: count('Lines of the file.'),
    done: count('Lines that have a check.'),
    failed: count('Lines that ended with an error. Once completed, done + failed = total.'),
    valid: count('Lines whose check says valid.'),
    invalid: count('Lines whose check says invalid or malformed; valid + invalid = done.'),
    created_at: instant(),
    completed_at: instant().nullable(),
  })
  .meta({ id: 'Batch', description: 'A file of numbers.' });

/** One line of a batch. Source: contract part 2 §5. */
export const batchLineSchema = z
  .strictObject({
    line_id: idOf('line'),
    line: z.int().min(1).describe('Where the row begins in the file, as a text editor counts.'),
    status: z.enum(LINE_STATUSES),
    input: z.string().describe('The number as the file has it.'),
    vat_number: z.string().nullable().describe('Normalised; null when no country can be told.'),
    reference: z.string().nullable(),
    check_id: idOf('check').nullable().describe('Lines with the same number and requester share a check.'),
    error: z
      .strictObject({ code: z.enum(LINE_ERROR_CODES), message: z.string() })
      .nullable()
      .describe('Why this line has no check; the others are not touched.'),
  })
  .meta({ id: 'BatchLine', description: 'A row of the file.' });

/** The batch object. Source: contract part 2 §5. */
export const presentBatch = (batch: Batch): z.input<typeof batchSchema> => ({
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
  check_id: line.checkId === null ? null : publicId('check', line.checkId),
  error: line.error && { code: line.error.code, message: line.error.message },
});
