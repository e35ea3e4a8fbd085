import type { QueryClient } from '@tanstack/react-query';
import { ALSO_CHANGED, type Topic } from './topics.js';

/** Has everything on screen about the topics read again; what is not on screen is read when it is next shown. */
export const invalidate =
  (queries: QueryClient) =>
  (...topics: Topic[]): void => {
    for (const topic of new Set(topics.flatMap((one) => [one, ...(ALSO_CHANGED[one] ?? [])]))) {
      void queries.invalidateQueries({ queryKey: [topic] });
    }
  };
