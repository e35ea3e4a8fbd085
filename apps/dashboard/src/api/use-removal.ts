import { type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { invalidate, REMOVAL } from './invalidate.js';
import type { Topic } from './topics.js';
import { useApi } from './use-api.js';

/**
 * Deletes what a page is about, leaves the page, and only then has the lists read again: what is gone must not be asked for
 * once more.
 */
export const useRemoval = (
  topic: Topic,
  path: string,
  leave: () => Promise<void>,
): UseMutationResult<void, Error, void> => {
  const api = useApi();
  const queries = useQueryClient();
  return useMutation({
    mutationKey: [REMOVAL, path],
    mutationFn: async () => {
      // What has never been read must not be left without its first reading when the deletion is refused.
      await queries.cancelQueries({
        queryKey: [topic],
        predicate: ({ queryKey: [, at], state }) => String(at).startsWith(path) && state.data !== undefined,
      });
      await api.call('DELETE', path);
      await leave();
      queries.removeQueries({ queryKey: [topic, path] });
      invalidate(queries)(topic);
    },
  });
};
