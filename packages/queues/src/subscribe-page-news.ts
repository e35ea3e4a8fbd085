import type { PageNews } from '@vat/domain';
import type { Redis } from 'ioredis';
import { accountOfChannel, pageNewsChannel, readPageNews } from './page-news-channel.js';

/** What a process hears of the accounts whose people have pages open on it. */
export type PageNewsSubscription = {
  /** Begins to listen for an account; resolves once nothing is missed any more, and waits for Redis with that. */
  follow: (accountId: string) => Promise<void>;
  unfollow: (accountId: string) => void;
  /** False while nothing can be heard. */
  isListening: () => boolean;
};

/**
 * Listens for news over the process's one subscribed connection, of the consumer kind: it subscribes again after a
 * reconnect by itself. A channel an account, so that a process hears of nobody else's.
 */
export const subscribePageNews = (
  connection: Redis,
  prefix: string,
  onNews: (accountId: string, news: PageNews[]) => void,
): PageNewsSubscription => {
  connection.on('message', (channel: string, message: string) => {
    const accountId = accountOfChannel(prefix, channel);
    if (accountId !== null) onNews(accountId, readPageNews(message));
  });
  return {
    follow: async (accountId) => {
      await connection.subscribe(pageNewsChannel(prefix, accountId)).catch(() => undefined);
    },
    unfollow: (accountId) => {
      connection.unsubscribe(pageNewsChannel(prefix, accountId)).catch(() => undefined);
    },
    isListening: () => connection.status === 'ready',
  };
};
