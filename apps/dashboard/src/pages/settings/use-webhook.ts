import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { ApiError } from '../../api/api-error.js';
import type { Webhook } from '../../api/shapes.js';
import { useApi } from '../../api/use-api.js';

/** The account's endpoint; null when there is none. */
export const useWebhook = (): UseQueryResult<Webhook | null> => {
  const api = useApi();
  return useQuery({
    queryKey: ['settings'],
    queryFn: async ({ signal }) => {
      try {
        return (await api.call<{ webhook: Webhook | null }>('GET', '/settings', { signal })).webhook;
      } catch (error) {
        if (!(error instanceof ApiError && error.status === 404)) throw error;
        return api.call<Webhook>('GET', '/webhook', { signal }).catch(() => null);
      }
    },
  });
};
