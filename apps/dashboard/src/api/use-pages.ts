import { keepPreviousData, type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query';
import { useLive } from '../live/use-live.js';
import type { Query } from './create-api.js';
import type { Topic } from './topics.js';
import { useApi } from './use-api.js';

/** A page of a list of the API. */
export type Page<T> = { data: T[]; next_cursor: string | null };

const POLL_MS = 4_000;

/** Reads a list page by page; the rows of all pages asked for so far are in `data`. Kept up to date as `useRead` does; with `everyMs` also where no news comes. */
export const usePages = <T>(
  topic: Topic,
  path: string,
  query: Query = {},
  everyMs: number | false = false,
): UseInfiniteQueryResult<T[]> => {
  const api = useApi();
  const isLive = useLive();
  return useInfiniteQuery({
    queryKey: [topic, path, query, 'pages'],
    queryFn: ({ pageParam, signal }) =>
      api.call<Page<T>>('GET', path, { query: { ...query, cursor: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    select: ({ pages }) => pages.flatMap(({ data }) => data),
    placeholderData: keepPreviousData,
    refetchInterval: isLive ? everyMs : POLL_MS,
  });
};
