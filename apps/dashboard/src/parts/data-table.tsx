// biome-ignore-all lint/a11y/noRedundantRoles: browsers drop the roles of a table whose display is changed by CSS

import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useLayoutEffect, useRef } from 'react';
import type { Query } from '../api/create-api.js';
import { type Topic, useApiList } from '../api/use-api-query.js';
import { Button } from './button.js';
import { ErrorAlert, Loading } from './states.js';
import { Page } from './text.js';

export type Column<Row> = {
  head: string;
  /** Null for no value; the card layout then omits the cell. */
  cell: (row: Row) => ReactNode;
  /** Numbers are aligned right. */
  figures?: boolean;
  /** Shows the head only to assistive technology, such as above buttons. */
  hideHead?: boolean;
};

/** The first column of a list: the name of a row, as a link to its page. */
export const nameColumn = <Row,>(
  head: string,
  to: '/batches/$id' | '/coverage/$id' | '/watches/$id' | '/deliveries/$id',
  idOf: (row: Row) => string,
  nameOf: (row: Row) => ReactNode,
): Column<Row> => ({
  head,
  cell: (row) => (
    <Link to={to} params={{ id: idOf(row) }} className="main-link">
      {nameOf(row)}
    </Link>
  ),
});

type DataTableProps<Row> = {
  /** The accessible name of the table. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
};

/**
 * A table that becomes a list of cards on narrow screens. The roles are explicit, since browsers drop them when CSS changes
 * the display of a table.
 */
export const DataTable = <Row,>({ label, columns, rows, rowKey }: DataTableProps<Row>) => (
  <table className="data" role="table" aria-label={label}>
    <thead role="rowgroup">
      <tr role="row">
        {columns.map(({ head, figures, hideHead }) => (
          <th key={head} role="columnheader" scope="col" className={figures ? 'figures' : undefined}>
            {hideHead ? <span className="visually-hidden">{head}</span> : head}
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

type PagedListProps<Row> = {
  list: Pick<
    UseInfiniteQueryResult<Row[]>,
    | 'data'
    | 'error'
    | 'refetch'
    | 'hasNextPage'
    | 'fetchNextPage'
    | 'isFetchingNextPage'
    | 'isFetchNextPageError'
    | 'isPlaceholderData'
  >;
  children: (rows: Row[]) => ReactNode;
};

/** A paged list of the API with a button that loads more rows. */
export const PagedList = <Row,>({ list, children }: PagedListProps<Row>) => {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage, isPlaceholderData } = list;
  const box = useRef<HTMLDivElement>(null);
  /** The number of rows at the last press of “Show more”. */
  const shownBefore = useRef<number | null>(null);
  useLayoutEffect(() => {
    if (hasNextPage || shownBefore.current === null) return;
    const firstNew = box.current?.querySelectorAll<HTMLElement>('tbody > tr, ol > li')[shownBefore.current];
    shownBefore.current = null;
    // With the last page the button is gone. Keyboard users would start again at the top of the page.
    if (!firstNew || document.activeElement !== document.body) return;
    firstNew.tabIndex = -1;
    firstNew.focus({ preventScroll: true });
  }, [hasNextPage]);
  // Above a long list, the error of “Show more” would be out of view.
  const isErrorOfMore = hasNextPage && list.isFetchNextPageError;
  if (data === undefined) return error ? <ErrorAlert error={error} onRetry={refetch} /> : <Loading />;
  return (
    <div ref={box} className={isPlaceholderData ? 'outdated' : undefined} aria-busy={isPlaceholderData}>
      {error && !isErrorOfMore && <ErrorAlert error={error} onRetry={refetch} />}
      {children(data)}
      {hasNextPage && (
        <div className="more">
          {isErrorOfMore && <ErrorAlert error={error} />}
          <Button
            isPending={isFetchingNextPage}
            onPress={() => {
              shownBefore.current = data.length;
              void fetchNextPage();
            }}
          >
            Show more
          </Button>
        </div>
      )}
    </div>
  );
};

type PagedTableProps<Row> = Omit<DataTableProps<Row>, 'rows'> &
  Pick<PagedListProps<Row>, 'list'> & {
    /** Shown when the list is empty. */
    empty: ReactNode;
  };

/** A paged list of the API as a table. */
export const PagedTable = <Row,>({ list, empty, ...table }: PagedTableProps<Row>) => (
  <PagedList list={list}>{(rows) => (rows.length === 0 ? empty : <DataTable {...table} rows={rows} />)}</PagedList>
);

type ApiTableProps<Row> = Omit<PagedTableProps<Row>, 'list'> & { topic: Topic; path: string; query?: Query };

/** Queries a list of the API and shows it as a table. */
export const ApiTable = <Row,>({ topic, path, query, ...table }: ApiTableProps<Row>) => (
  <PagedTable {...table} list={useApiList<Row>(topic, path, query)} />
);

type ListPageProps<Row> = Omit<ApiTableProps<Row>, 'label'> & {
  title: string;
  /** The name of the table, by default the title. */
  label?: string;
  actions?: ReactNode;
  /** Shown above the list. */
  children: ReactNode;
};

/** The page of a list of the API. */
export const ListPage = <Row,>({ title, label = title, actions, children, ...table }: ListPageProps<Row>) => (
  <Page title={title} actions={actions}>
    {children}
    <ApiTable {...table} label={label} />
  </Page>
);
