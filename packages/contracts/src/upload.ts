import { type IdKind, LINE_ERROR_CODES } from '@vat/domain';
import { z } from 'zod';
import { pageListQuery, pageOf } from './lists.js';
import { download, ok } from './operation.js';
import { booleanText, idOf, printable } from './text.js';

/** The media type of Excel workbooks (.xlsx). */
export const XLSX_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/** The field that chooses a sheet of an uploaded workbook. Spreadsheet programs allow names of 31 characters. */
export const sheetName = () =>
  printable(100)
    .optional()
    .describe('The name of the sheet of an .xlsx file. Without it the first sheet with data is read.');

/** The part of a form with the file. The file itself is validated while it is read. */
const filePart = () =>
  z.file().meta({
    openapi: {
      type: 'string',
      format: 'binary',
      description: 'The CSV file or Excel workbook (.xlsx), at most 2 MiB and 10 000 rows.',
    },
  });

/** The errors of every upload of a file of numbers. */
export const UPLOAD_ERRORS = [
  'EMPTY_FILE',
  'TOO_MANY_ROWS',
  'INVALID_CSV',
  'INVALID_FILE',
  'MISSING_CANDIDATE',
  'FILE_TOO_LARGE',
  'ACCOUNT_DISABLED',
  'TOO_MANY_BATCHES',
  'BATCH_LINE_LIMIT',
] as const;

/** The name of an uploaded file. */
export const fileName = () => z.string().nullable().describe('The name that you sent, without folders.');

/** The fields with which every line of a file begins. `status`: the schema of its status. */
export const lineFields = <Status extends z.ZodType>(status: Status) => ({
  line_id: idOf('line'),
  line: z
    .int()
    .min(1)
    .describe(
      'The line of the file where the row begins, counted from 1 as in a text editor, or the row of the sheet.',
    ),
  status,
  input: z.string().describe('The VAT number as it is in the file.'),
  vat_number: z.string().nullable().describe('The normalised VAT number. Null when its country cannot be determined.'),
});

/** The error of a line. */
export const lineError = () => z.strictObject({ code: z.enum(LINE_ERROR_CODES), message: z.string() }).nullable();

/** By the name in the query; a tab is also written as in a program. */
const DELIMITERS = { ',': ',', ';': ';', tab: '\t', '\t': '\t', '\\t': '\t' } as const;

/** Query of a results file as CSV. */
export const resultsQuery = z.strictObject({
  delimiter: z
    .enum(Object.keys(DELIMITERS) as (keyof typeof DELIMITERS)[], {
      // Of a repeated one the message is that of every parameter.
      error: ({ input }) => (Array.isArray(input) ? undefined : 'must be ",", ";" or tab'),
    })
    .default(',')
    .transform((name) => DELIMITERS[name])
    .meta({ openapi: { type: 'string', enum: [',', ';', 'tab'], default: ',' } }),
  bom: booleanText(),
});

type UploadedFile<Id, Fields, Schema, Line, LinesQuery> = {
  /** The path of the list; every other path is below it. */
  path: string;
  tag: string;
  /** The kind of its ids, which is also what a file of this kind is called. */
  id: Id;
  /** The fields that accompany the file, in the form or in the query. */
  fields: Fields;
  schema: Schema;
  lineSchema: Line;
  linesQuery: LinesQuery;
  /** The object as it is created and once its lines have ended, some of its lines, a file, and the file with its results. */
  examples: { created: unknown; ended: unknown; lines: readonly unknown[]; file: string; results: string };
};

/** The operations that every kind of uploaded file has, without their texts. They are for live keys only. */
export const uploadOperations = <
  const Id extends IdKind,
  Fields extends z.ZodObject,
  Schema extends z.ZodType,
  Line extends z.ZodType,
  LinesQuery extends z.ZodObject,
>({
  path,
  tag,
  id,
  fields,
  schema,
  lineSchema,
  linesQuery,
  examples,
}: UploadedFile<Id, Fields, Schema, Line, LinesQuery>) => {
  const list = { path, tag, live: true } as const;
  const one = { ...list, path: `${path}/{id}`, id } as const;
  return {
    create: {
      ...list,
      method: 'post',
      query: fields,
      uploads: {
        'multipart/form-data': { schema: fields.extend({ file: filePart() }) as z.ZodType },
        'text/csv': { example: examples.file },
        [XLSX_TYPE]: {},
      },
      idempotent: true,
      success: { 201: { description: `The ${id}.`, schema, example: examples.created, headers: ['Location'] } },
    },
    list: { ...list, method: 'get', query: pageListQuery, success: pageOf(schema, [examples.ended]) },
    get: { ...one, method: 'get', success: ok(`The ${id}.`, schema, examples.ended) },
    remove: { ...one, method: 'delete', success: { 204: { description: `The ${id} was deleted.` } } },
    lines: {
      ...one,
      method: 'get',
      path: `${one.path}/lines`,
      query: linesQuery,
      success: pageOf(lineSchema, examples.lines),
    },
    results: {
      ...one,
      method: 'get',
      path: `${one.path}/results.csv`,
      query: resultsQuery,
      success: download('The file, encoded in UTF-8.', 'text/csv', examples.results),
      errors: ['TOO_MANY_DOWNLOADS'],
    },
    workbook: {
      ...one,
      method: 'get',
      path: `${one.path}/results.xlsx`,
      success: download('The workbook.', XLSX_TYPE),
      errors: ['TOO_MANY_DOWNLOADS'],
    },
  } as const;
};
