import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Button } from './button.js';
import { type Column, DataTable } from './data-table.js';
import { Loading } from './loading.js';
import { Refusal } from './refusal.js';

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
