import { BATCH_STATUSES, LINE_ERROR_CODES, LINE_STATUSES } from '@vat/domain';
import { z } from 'zod';
import { idOf, instant } from './instant.js';

const count = (what: string) => z.int().min(0).describe(what);

/** The batch object. Source: contract part 2 §5. */
export const batchSchema = z
  .strictObject({
    batch_id: idOf('bat'),
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
    line_id: idOf('lin'),
    line: z.int().min(1).describe('Where the row begins in the file, as a text editor counts.'),
    status: z.enum(LINE_STATUSES),
    input: z.string().describe('The number as the file has it.'),
    vat_number: z.string().nullable().describe('Normalised; null when no country can be told.'),
    reference: z.string().nullable(),
    check_id: idOf('chk').nullable().describe('Lines with the same number and requester share a check.'),
    error: z
      .strictObject({ code: z.enum(LINE_ERROR_CODES), message: z.string() })
      .nullable()
      .describe('Why this line has no check; the others are not touched.'),
  })
  .meta({ id: 'BatchLine', description: 'A row of the file.' });
