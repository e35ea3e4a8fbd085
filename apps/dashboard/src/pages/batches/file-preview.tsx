import type { BatchFile, Repair, RepairKind } from '@vat/spreadsheet';
import type { ReactNode } from 'react';
import { type Column, DataTable } from '../../parts/data-table.js';
import { count, counted, shorten } from '../../parts/format.js';
import { Facts } from '../../parts/text.js';

const REPAIR_TEXTS: Record<RepairKind, string> = {
  digits_lost: 'converted to scientific notation by a spreadsheet; these digits are lost',
  blanks_removed: 'unusual or invisible spaces removed',
  apostrophe_removed: 'leading apostrophe removed',
  formula_unwrapped: 'number extracted from a formula',
  decimals_removed: 'decimals removed',
  grouping_removed: 'thousands separators removed',
  country_name_read: 'country name converted to its code',
};

/** The repairs of cells by kind, each with an example. Losses come first. */
const RepairList = ({ repairs, line }: { repairs: readonly Repair[]; line: string }) => {
  if (repairs.length === 0) return <p className="hint">No cell was changed.</p>;
  const kinds = (Object.keys(REPAIR_TEXTS) as RepairKind[]).flatMap((kind) => {
    const found = repairs.filter((repair) => repair.kind === kind);
    const [example] = found;
    return example ? [{ kind, times: found.length, example }] : [];
  });
  return (
    <div>
      <h4>Repairs</h4>
      <ul className="repairs">
        {kinds.map(({ kind, times, example }) => (
          <li key={kind} className={kind === 'digits_lost' ? 'lost' : undefined}>
            <strong>{count(times)} ×</strong> {REPAIR_TEXTS[kind]}; {line.toLowerCase()} {example.line}:{' '}
            <code>{shorten(example.before)}</code>
            {example.after !== example.before && (
              <>
                {' '}
                → <code>{shorten(example.after)}</code>
              </>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
};

type Row = BatchFile['rows'][number];

/** A file of numbers, or one whose rows have more. */
type File<R extends Row> = Omit<BatchFile, 'rows'> & { rows: readonly R[] };

const SHOWN_ROWS = 5;

const DELIMITERS: Record<string, string> = { ',': 'commas', ';': 'semicolons', '\t': 'tabs', '|': 'vertical bars' };

/** What the position of a row in its file is called. */
const lineWord = ({ source }: Pick<BatchFile, 'source'>): string => (source.format === 'xlsx' ? 'Row' : 'Line');

const formatOf = ({ source }: Pick<BatchFile, 'source'>): string =>
  source.format === 'xlsx'
    ? `Excel workbook, sheet “${shorten(source.sheet)}”`
    : `${source.encoding.toUpperCase()}${source.bom ? ' with byte order mark' : ''}, separated by ${DELIMITERS[source.delimiter] ?? source.delimiter}`;

/** The name of a column in its header. */
export const nameOf = ({ header }: Pick<BatchFile, 'header'>, column: number): string => {
  const name = header?.[column]?.trim();
  return name ? `“${shorten(name)}”` : `column ${column + 1}`;
};

const OTHERS = { country: 'Country', reference: 'Reference', requester: 'Requester' } as const;
type Other = keyof typeof OTHERS;

const othersOf = ({ columns }: Pick<BatchFile, 'columns'>): { meaning: Other; column: number }[] =>
  (Object.keys(OTHERS) as Other[]).flatMap((meaning) => {
    const column = columns[meaning];
    return column === null ? [] : [{ meaning, column }];
  });

const columnsOf = (batch: Pick<BatchFile, 'columns' | 'source'>): Column<Row>[] => [
  { head: lineWord(batch), figures: true, cell: ({ line }) => line },
  { head: 'VAT number', cell: ({ candidate }) => shorten(candidate) || <em>empty</em> },
  ...othersOf(batch).map(({ meaning }) => ({
    head: OTHERS[meaning],
    cell: (row: Row) => shorten(row[meaning] ?? '') || null,
  })),
];

type FilePreviewProps<R extends Row> = {
  name: string;
  batch: File<R>;
  /** Facts and columns of a file that has more than numbers; each column is one of the file. */
  more?: { facts: Record<string, ReactNode>; columns: readonly Column<R>[] };
};

/** How a file was read: its format, its columns, its first rows, and the repairs of its cells. */
export const FilePreview = <R extends Row>({ name, batch, more }: FilePreviewProps<R>) => {
  const used = Object.values(batch.columns).filter((column) => column !== null).length + (more?.columns.length ?? 0);
  const others = batch.width - used;
  return (
    <section className="preview" aria-label="Preview">
      <h3>Preview</h3>
      <Facts
        facts={{
          File: name,
          Rows: count(batch.rows.length),
          Format: `${formatOf(batch)}, ${batch.header ? 'with a header row' : 'without a header row'}`,
          'Rows above the header': batch.preamble > 0 ? `${count(batch.preamble)}, skipped` : null,
          'VAT numbers': `${nameOf(batch, batch.columns.candidate)}, recognised by ${batch.foundBy === 'header' ? 'its name' : 'its values'}`,
          ...more?.facts,
          ...Object.fromEntries(othersOf(batch).map(({ meaning, column }) => [OTHERS[meaning], nameOf(batch, column)])),
          'Other columns': others > 0 ? `${count(others)}, included in the results` : null,
        }}
      />
      <DataTable
        label="First rows"
        columns={[...columnsOf(batch), ...(more?.columns ?? [])]}
        rows={batch.rows.slice(0, SHOWN_ROWS)}
        rowKey={({ line }) => String(line)}
      />
      {batch.rows.length > SHOWN_ROWS && (
        <p className="hint">and {counted(batch.rows.length - SHOWN_ROWS, 'more row', 'more rows')}</p>
      )}
      <RepairList repairs={batch.repairs} line={lineWord(batch)} />
    </section>
  );
};
