import type { BatchFile } from '@vat/spreadsheet';
import { count } from '../../parts/count.js';
import { type Column, DataTable } from '../../parts/data-table.js';
import { Facts } from '../../parts/facts.js';
import { shorten } from '../../parts/shorten.js';
import { RepairList } from './repair-list.js';

type Row = BatchFile['rows'][number];

const SHOWN_ROWS = 5;

const DELIMITERS: Record<string, string> = { ',': 'comma', ';': 'semicolon', '\t': 'tab' };

const nameOf = ({ header }: BatchFile, column: number): string => {
  const name = header?.[column]?.trim();
  return name ? `“${shorten(name)}”` : `column ${column + 1}`;
};

const OTHERS = { country: 'Country', reference: 'Reference', requester: 'Requester' } as const;
type Other = keyof typeof OTHERS;

/** The optional meanings that the file has a column for. */
const othersOf = ({ columns }: BatchFile): { meaning: Other; column: number }[] =>
  (Object.keys(OTHERS) as Other[]).flatMap((meaning) => {
    const column = columns[meaning];
    return column === null ? [] : [{ meaning, column }];
  });

const columnsOf = (batch: BatchFile): Column<Row>[] => [
  { head: 'Line', figures: true, cell: ({ line }) => line },
  { head: 'Number', cell: ({ candidate }) => shorten(candidate) || <em>empty</em> },
  ...othersOf(batch).map(({ meaning }) => ({
    head: OTHERS[meaning],
    cell: (row: Row) => shorten(row[meaning] ?? '') || null,
  })),
];

/** What was read from a file: which columns mean what, the first rows as they will be checked, and what was repaired. */
export const FilePreview = ({ name, batch }: { name: string; batch: BatchFile }) => {
  const used = Object.values(batch.columns).filter((column) => column !== null).length;
  const others = batch.width - used;
  return (
    <section className="preview" aria-label="Preview">
      <h3>Preview</h3>
      <Facts
        facts={{
          File: name,
          Rows: count(batch.rows.length),
          Form: `${batch.encoding.toUpperCase()}${batch.bom ? ' with byte order mark' : ''}, separated by ${DELIMITERS[batch.delimiter] ?? batch.delimiter}, ${batch.header ? 'with a header row' : 'without a header row'}`,
          'Above the header':
            batch.preamble > 0 ? `${batch.preamble === 1 ? '1 row' : `${batch.preamble} rows`}, left out` : null,
          'VAT numbers': `${nameOf(batch, batch.columns.candidate)}, recognised by ${batch.foundBy === 'header' ? 'its name' : 'what its cells look like'}`,
          ...Object.fromEntries(othersOf(batch).map(({ meaning, column }) => [OTHERS[meaning], nameOf(batch, column)])),
          'Other columns': others > 0 ? `${count(others)}, kept for the results` : null,
        }}
      />
      <DataTable
        label="First rows"
        columns={columnsOf(batch)}
        rows={batch.rows.slice(0, SHOWN_ROWS)}
        rowKey={({ line }) => String(line)}
      />
      {batch.rows.length > SHOWN_ROWS && <p className="hint">and {count(batch.rows.length - SHOWN_ROWS)} more rows</p>}
      <RepairList repairs={batch.repairs} />
    </section>
  );
};
