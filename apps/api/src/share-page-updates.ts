import type { PageUpdate } from '@vat/domain';
import type { PageUpdateSubscription } from '@vat/queues';

type Subscribe = (onUpdates: (accountId: string, updates: PageUpdate[]) => void) => PageUpdateSubscription;

/**
 * Shares one subscription to page updates among the features of a process: an account is followed while one of them follows it.
 * Each feature also gets the updates of accounts that only the others follow.
 */
export const sharePageUpdates = (subscribe: Subscribe): Subscribe => {
  const listeners: Parameters<Subscribe>[0][] = [];
  const followers = new Map<string, number>();
  const shared = subscribe((accountId, updates) => {
    for (const listener of listeners) listener(accountId, updates);
  });
  return (onUpdates) => {
    listeners.push(onUpdates);
    return {
      follow: (accountId) => {
        followers.set(accountId, (followers.get(accountId) ?? 0) + 1);
        return shared.follow(accountId);
      },
      unfollow: (accountId) => {
        const remaining = (followers.get(accountId) ?? 0) - 1;
        if (remaining > 0) return void followers.set(accountId, remaining);
        followers.delete(accountId);
        shared.unfollow(accountId);
      },
      isListening: shared.isListening,
    };
  };
};
