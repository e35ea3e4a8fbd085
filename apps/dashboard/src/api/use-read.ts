import {
  keepPreviousData,
  type QueryClient,
  type Query as ReactQuery,
  type UseInfiniteQueryResult,
  type UseQueryResult,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query';
import { useLive } from '../live/live-context.js';
import { type Query, useApi } from './create-api.js';
import { isMissing } from './errors.js';

/** What a piece of data is about. The first word of every query's key, and the `topic` of the server's news. */
export type Topic =
  | 'checks'
  | 'requests'
  | 'batches'
  | 'watches'
  | 'deliveries'
  | 'anchors'
  | 'overview'
  | 'usage'
  | 'status'
  | 'settings'
  | 'keys';

/** What else changes when something of a topic does. */
const ALSO_CHANGED: Partial<Record<Topic, readonly Topic[]>> = {
  checks: ['requests', 'overview', 'usage'],
  requests: ['checks', 'overview', 'usage'],
  batches: ['overview', 'usage', 'checks'],
  watches: ['overview'],
  deliveries: ['overview'],
};

type ReadOptions<T> = {
  query?: Query;
  enabled?: boolean;
  /** Milliseconds until it is asked again although no news came; false for what needs no looking after; undefined for what has news. */
  every?: number | false | ((data: T | undefined) => number | false | undefined);
  retry?: boolean;
};

/** Without news, open data is asked for this often. */
const POLL_MS = 4_000;

/** Reads a path of the API and keeps what is shown up to date: at once by the server's news, else by lookingUp again. */
export const useRead = <T>(
  topic: Topic,
  path: string,
  { query = {}, enabled = true, every, retry }: ReadOptions<T> = {},
): UseQueryResult<T> => {
  const api = useApi();
  const isLive = useLive();
  return useQuery<T>({
    queryKey: [topic, path, query],
    queryFn: ({ signal }) => api.call<T>('GET', path, { query, signal }),
    enabled: ({ state }) => enabled && !isMissing(state.error),
    refetchInterval: (asked) => {
      const own = typeof every === 'function' ? every(asked.state.data) : every;
      return own ?? (isLive ? false : POLL_MS);
    },
    ...(retry === undefined ? {} : { retry }),
  });
};

/** A page of a list of the API. */
export type Page<T> = { data: T[]; next_cursor: string | null };

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

/** Begins the key of a mutation that deletes what is at a path, which follows: from then on that is not read again. */
export const REMOVAL = 'removal';

const isBeingRemoved = (queries: QueryClient, { queryKey: [, path] }: ReactQuery): boolean =>
  queries
    .getMutationCache()
    .findAll({ mutationKey: [REMOVAL], status: 'pending' })
    .some(({ options }) => String(path).startsWith(String(options.mutationKey?.[1])));

/**
 * Has everything on screen about the topics read again; what is not on screen is read when it is next shown. A reading under
 * way goes on to its end: a list of many pages, cut short by each piece of news, would never get there while a batch runs.
 * It may have begun before the news, so one more follows it.
 */
export const invalidate =
  (queries: QueryClient) =>
  (...topics: Topic[]): void => {
    for (const topic of new Set(topics.flatMap((one) => [one, ...(ALSO_CHANGED[one] ?? [])]))) {
      const about = { queryKey: [topic], predicate: (query: ReactQuery) => !isBeingRemoved(queries, query) };
      const isLate = queries.isFetching(about) > 0;
      const read = () => queries.invalidateQueries(about, { cancelRefetch: false });
      void read().then(() => (isLate ? read() : undefined));
    }
  };
