import type { UseQueryResult } from '@tanstack/react-query';
import type { Webhook } from '../../api/shapes.js';
import { useRead } from '../../api/use-read.js';

/** The account's endpoint, null when there is none. */
export const useWebhook = (): UseQueryResult<{ webhook: Webhook | null }> =>
  useRead<{ webhook: Webhook | null }>('settings', '/settings', { every: false });
