import type { Query, QueryClient } from '@tanstack/react-query';
import { ALSO_CHANGED, type Topic } from './topics.js';

/** Begins the key of a mutation that deletes what is at a path, which follows: from then on that is not read again. */
export const REMOVAL = 'removal';

const isBeingRemoved = (queries: QueryClient, { queryKey: [, path] }: Query): boolean =>
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
      const about = { queryKey: [topic], predicate: (query: Query) => !isBeingRemoved(queries, query) };
      const isLate = queries.isFetching(about) > 0;
      const read = () => queries.invalidateQueries(about, { cancelRefetch: false });
      void read().then(() => (isLate ? read() : undefined));
    }
  };
