import type { BatchFile } from '@vat/spreadsheet';
import { count } from '../../parts/count.js';
import { type Column, DataTable } from '../../parts/data-table.js';
import { Facts } from '../../parts/facts.js';
import { RepairList } from './repair-list.js';

type Row = BatchFile['rows'][number];

const SHOWN_ROWS = 6;

const DELIMITERS: Record<string, string> = { ',': 'comma', ';': 'semicolon', '\t': 'tab' };

const nameOf = ({ header }: BatchFile, column: number): string => {
  const name = header?.[column]?.trim();
  return name ? `“${name}”` : `column ${column + 1}`;
};

const columnsOf = (batch: BatchFile): Column<Row>[] => {
  const { candidate, country, reference, requester } = batch.columns;
  return [
    { head: 'Line', figures: true, cell: ({ line }: Row) => line },
    { head: `Number (${nameOf(batch, candidate)})`, cell: ({ candidate: text }: Row) => text || <em>empty</em> },
    ...(country === null
      ? []
      : [{ head: `Country (${nameOf(batch, country)})`, cell: (row: Row) => row.country ?? '–' }]),
    ...(reference === null
      ? []
      : [{ head: `Reference (${nameOf(batch, reference)})`, cell: (row: Row) => row.reference ?? '–' }]),
    ...(requester === null
      ? []
      : [{ head: `Requester (${nameOf(batch, requester)})`, cell: (row: Row) => row.requester ?? '–' }]),
  ];
};

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
          'VAT numbers': `${nameOf(batch, batch.columns.candidate)}, recognised by ${batch.foundBy === 'header' ? 'its name' : 'what its cells look like'}`,
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
