import {
  COVERAGE_STATUSES,
  type Coverage,
  type CoverageLine,
  EVIDENCE_GRADES,
  MAX_AGE_DAYS,
  MIN_GRADES,
  publicId,
} from '@vat/domain';
import { z } from 'zod';
import { pageQuery } from './lists.js';
import { booleanText, count, idOf, instant, printable, wholeNumberText } from './text.js';
import { fileName, lineError, lineFields, sheetName } from './upload.js';

/** The fields that accompany a coverage's file, in the form or in the query. */
export const coverageFields = z.strictObject({
  label: printable(100).optional().describe('Your own name for the coverage, 1 to 100 printable characters.'),
  max_age_days: wholeNumberText(MAX_AGE_DAYS, 'Days that a check may be older than the supply.'),
  min_grade: z.enum(MIN_GRADES).default('basic').describe('The evidence grade that a check needs at least.'),
  queue_gaps: booleanText('True makes a batch of the uncovered numbers.'),
  sheet: sheetName(),
});

/** Query of GET /v1/coverage/{id}/lines. */
export const coverageLinesQuery = z.strictObject({ ...pageQuery, status: z.enum(COVERAGE_STATUSES).optional() });

/** The coverage object. */
export const coverageSchema = z
  .strictObject({
    coverage_id: idOf('coverage'),
    object: z.literal('coverage'),
    label: z.string().nullable(),
    file_name: fileName(),
    max_age_days: z.int().min(MAX_AGE_DAYS.min).max(MAX_AGE_DAYS.max),
    min_grade: z.enum(MIN_GRADES),
    total: count('Lines of the file; the sum of the five counts.'),
    covered: count('Lines with a valid check in time, of at least `min_grade`.'),
    stale: count('Lines whose last check says valid, but is more than `max_age_days` older than the supply.'),
    weak: count('Lines with a valid check in time, of a lower grade.'),
    invalid: count('Lines whose last check before the supply says that the number is not valid.'),
    missing: count('Lines without a check before the supply, or without a number.'),
    batch_id: idOf('batch')
      .nullable()
      .describe('The batch of the uncovered numbers. Null without one, and once it is deleted.'),
    created_at: instant().describe('The time of the result. Later checks do not change it.'),
  })
  .meta({ id: 'Coverage', description: 'Whether the number of every supply in a file was checked in time.' });

/** One line of a coverage. */
export const coverageLineSchema = z
  .strictObject({
    ...lineFields(z.enum(COVERAGE_STATUSES)),
    supply_date: z.iso.date().describe('The date as it was read.'),
    reference: z.string().nullable(),
    check_id: idOf('check')
      .nullable()
      .describe('The check that covers the line; otherwise the last check before the supply. It may be deleted since.'),
    checked_at: instant().nullable(),
    evidence_grade: z.enum(EVIDENCE_GRADES).nullable().describe('The grade of the check.'),
    error: lineError().describe('Why the number or the reference of the line cannot be used.'),
  })
  .meta({ id: 'CoverageLine', description: 'One supply of the file.' });

/** The coverage object. */
export const presentCoverage = (coverage: Coverage): z.input<typeof coverageSchema> => ({
  coverage_id: publicId('coverage', coverage.id),
  object: 'coverage',
  label: coverage.label,
  file_name: coverage.fileName,
  max_age_days: coverage.maxAgeDays,
  min_grade: coverage.minGrade,
  total: coverage.total,
  covered: coverage.covered,
  stale: coverage.stale,
  weak: coverage.weak,
  invalid: coverage.invalid,
  missing: coverage.missing,
  batch_id: coverage.batchId === null ? null : publicId('batch', coverage.batchId),
  created_at: coverage.createdAt.toISOString(),
});

/** A line of a coverage. */
export const presentCoverageLine = ({
  id,
  line,
  status,
  input,
  vatNumber,
  supplyDate,
  reference,
  check,
  error,
}: CoverageLine): z.input<typeof coverageLineSchema> => ({
  line_id: publicId('line', id),
  line,
  status,
  input,
  vat_number: vatNumber,
  supply_date: supplyDate,
  reference,
  check_id: check && publicId('check', check.id),
  checked_at: check?.checkedAt.toISOString() ?? null,
  evidence_grade: check?.grade ?? null,
  error: error && { code: error.code, message: error.message },
});
