// biome-ignore-all lint/a11y/noRedundantRoles: browsers forget the roles of a table that is laid out as anything else

import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from './button.js';
import { Loading, Refusal } from './states.js';

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

type ListingProps<Row> = {
  label: string;
  list: Pick<
    UseInfiniteQueryResult<Row[]>,
    'data' | 'error' | 'refetch' | 'hasNextPage' | 'fetchNextPage' | 'isFetchingNextPage' | 'isPlaceholderData'
  >;
  columns: readonly Column<Row>[];
  rowKey: (row: Row) => string;
  /** What stands there when there is none. */
  empty: ReactNode;
};

/** A list of the API as a table that grows on request. */
export const Listing = <Row,>({ label, list, columns, rowKey, empty }: ListingProps<Row>) => {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage, isPlaceholderData } = list;
  if (data === undefined) return error ? <Refusal error={error} onRetry={refetch} /> : <Loading />;
  return (
    <div className={isPlaceholderData ? 'outdated' : undefined} aria-busy={isPlaceholderData}>
      {error && <Refusal error={error} onRetry={refetch} />}
      {data.length === 0 ? empty : <DataTable label={label} columns={columns} rows={data} rowKey={rowKey} />}
      {hasNextPage && (
        <div className="more">
          <Button isPending={isFetchingNextPage} onPress={() => void fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
    </div>
  );
};
