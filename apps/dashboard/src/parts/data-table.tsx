// biome-ignore-all lint/a11y/noRedundantRoles: browsers forget the roles of a table that is laid out as anything else
import type { ReactNode } from 'react';

export type Column<Row> = {
  head: string;
  /** Null where there is nothing to say, which a card then leaves out. */
  cell: (row: Row) => ReactNode;
  /** Figures stand at the right, so that they can be compared. */
  figures?: boolean;
  /** The head is for assistive technology alone, as over buttons. */
  hideHead?: boolean;
};

type DataTableProps<Row> = {
  /** What it lists. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
};

/**
 * A table that becomes a list of cards on narrow screens. The roles are written out, since browsers forget them once a
 * table is laid out as anything else.
 */
export const DataTable = <Row,>({ label, columns, rows, rowKey }: DataTableProps<Row>) => (
  <table className="data" role="table" aria-label={label}>
    <thead role="rowgroup">
      <tr role="row">
        {columns.map(({ head, figures, hideHead }) => (
          <th key={head} role="columnheader" scope="col" className={figures ? 'figures' : undefined}>
            {hideHead ? <span className="for-reader">{head}</span> : head}
          </th>
        ))}
      </tr>
    </thead>
    <tbody role="rowgroup">
      {rows.map((row) => (
        <tr key={rowKey(row)} role="row">
          {columns.map(({ head, cell, figures, hideHead }) => {
            const body = cell(row);
            return (
              <td key={head} role="cell" className={`${figures ? 'figures' : ''} ${body === null ? 'nothing' : ''}`}>
                {!hideHead && (
                  <span className="cell-head" aria-hidden="true">
                    {head}
                  </span>
                )}
                <span className="cell-body">{body ?? '–'}</span>
              </td>
            );
          })}
        </tr>
      ))}
    </tbody>
  </table>
);
