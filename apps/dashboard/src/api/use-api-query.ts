import {
  keepPreviousData,
  type QueryClient,
  type Query as ReactQuery,
  type UseInfiniteQueryResult,
  type UseQueryResult,
  useInfiniteQuery,
  useQuery,
} from '@tanstack/react-query';
import { createContext, useContext } from 'react';
import { type Query, useApi } from './create-api.js';
import { isNotFound } from './errors.js';

/** The subject of a query: the first element of every query key, and the `topic` of page updates. */
export type Topic =
  | 'checks'
  | 'requests'
  | 'batches'
  | 'coverage'
  | 'watches'
  | 'deliveries'
  | 'anchors'
  | 'overview'
  | 'usage'
  | 'status'
  | 'settings'
  | 'notifications'
  | 'keys'
  | 'members'
  | 'boot';

/** Topics whose data depends on another topic. */
const DEPENDENT_TOPICS: Partial<Record<Topic, readonly Topic[]>> = {
  checks: ['requests', 'overview', 'usage'],
  requests: ['checks', 'overview', 'usage'],
  batches: ['overview', 'usage', 'checks'],
  watches: ['overview'],
  deliveries: ['overview'],
  // The role of this user may be another, or the user removed.
  members: ['boot'],
};

/** True while the server pushes page updates; false while pages must poll. */
export const LiveContext = createContext(false);

type QueryOptions<T> = {
  query?: Query;
  enabled?: boolean;
  /** Poll interval in ms; false for no polling once the data has been read; undefined for data with page updates, which is polled only while they are unavailable. */
  every?: number | false | ((data: T | undefined) => number | false | undefined);
  /** How long the data is kept once no page shows it, in ms; 0 for what may not be shown before it is read again. */
  gcTime?: number;
};

/** The poll interval while page updates are unavailable. */
const POLL_MS = 4_000;

/** The poll interval of a query that is not polled once it has its data: it is tried again until the service answers. */
export const retryInterval = ({ state }: { state: { error: Error | null } }): number | false =>
  state.error !== null && !isNotFound(state.error) ? POLL_MS : false;

/** Queries a path of the API and keeps the data current by page updates or by polling. */
export const useApiQuery = <T>(
  topic: Topic,
  path: string,
  { query = {}, enabled = true, every, ...options }: QueryOptions<T> = {},
): UseQueryResult<T> => {
  const api = useApi();
  const isLive = useContext(LiveContext);
  return useQuery<T>({
    queryKey: [topic, path, query],
    queryFn: ({ signal }) => api.call<T>('GET', path, { query, signal }),
    enabled: ({ state }) => enabled && !isNotFound(state.error),
    refetchInterval: (current) => {
      if (every === false) return retryInterval(current);
      const own = typeof every === 'function' ? every(current.state.data) : every;
      return own ?? (isLive ? false : POLL_MS);
    },
    ...options,
  });
};

/** A page of a list of the API. */
export type Page<T> = { data: T[]; next_cursor: string | null };

/** Queries a list page by page; `data` contains the rows of all loaded pages. Refreshed like `useApiQuery`; `everyMs` adds polling for topics without page updates. */
export const useApiList = <T>(
  topic: Topic,
  path: string,
  query: Query = {},
  everyMs: number | false = false,
): UseInfiniteQueryResult<T[]> => {
  const api = useApi();
  const isLive = useContext(LiveContext);
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

/** The first element of the mutation key of a deletion; the path follows. Queries below that path are not refetched meanwhile. */
export const REMOVAL = 'removal';

const isBeingRemoved = (queries: QueryClient, { queryKey: [, path] }: ReactQuery): boolean =>
  queries
    .getMutationCache()
    .findAll({ mutationKey: [REMOVAL], status: 'pending' })
    .some(({ options }) => String(path).startsWith(String(options.mutationKey?.[1])));

/**
 * Refetches the active queries of the topics; inactive queries are refetched when they are next shown. A running fetch is not
 * cancelled: a list of many pages would otherwise never finish while a batch sends updates. Since that fetch may have started
 * before the update, another one follows it. Resolves when they have been refetched, also if that failed.
 */
export const invalidate =
  (queries: QueryClient) =>
  async (...topics: Topic[]): Promise<void> => {
    const all = new Set(topics.flatMap((one) => [one, ...(DEPENDENT_TOPICS[one] ?? [])]));
    const reads = [...all].map(async (topic) => {
      const filter = { queryKey: [topic], predicate: (query: ReactQuery) => !isBeingRemoved(queries, query) };
      const isFetching = queries.isFetching(filter) > 0;
      const refetch = () => queries.invalidateQueries(filter, { cancelRefetch: false });
      await refetch();
      if (isFetching) await refetch();
    });
    await Promise.all(reads);
  };

/**
 * Shows what a call has saved in a query of a path, until the query is repeated. A running fetch is cancelled, since it may have
 * read what was there before.
 */
export const showSaved = async <T>(
  queries: QueryClient,
  topic: Topic,
  path: string,
  update: (shown: T | undefined) => T | undefined,
): Promise<void> => {
  const queryKey = [topic, path, {}];
  await queries.cancelQueries({ queryKey });
  queries.setQueryData<T>(queryKey, update);
};
