import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useLive } from '../live/use-live.js';
import type { Query } from './create-api.js';
import { isMissing } from './is-missing.js';
import type { Topic } from './topics.js';
import { useApi } from './use-api.js';

type ReadOptions<T> = {
  query?: Query;
  enabled?: boolean;
  /** Milliseconds until it is asked again although no news came; false for what needs no looking after; undefined for what has news. */
  every?: number | false | ((data: T | undefined) => number | false | undefined);
  retry?: boolean;
};

/** Without news, open data is asked for this often. */
const POLL_MS = 4_000;

/** Reads a path of the API and keeps what is shown up to date: at once by the server's news, else by asking again. */
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
