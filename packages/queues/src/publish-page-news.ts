import type { TellPages } from '@vat/domain';
import type { Redis } from 'ioredis';
import { gatherPageNews } from './gather-page-news.js';
import { pageNewsChannel } from './page-news-channel.js';

/** Messages an account and process: at most two a second. */
const EVERY_MS = 500;

/** Publishes news for pages over a producer's connection. While Redis is away they are dropped: pages ask by themselves. */
export const publishPageNews = (connection: Redis, prefix: string): { tell: TellPages; close: () => void } => {
  const { tell, flush } = gatherPageNews(EVERY_MS, (accountId, news) => {
    connection.publish(pageNewsChannel(prefix, accountId), JSON.stringify(news)).catch(() => undefined);
  });
  // What was told last goes out before the connection is closed, which it leaves before Redis answers.
  return { tell, close: flush };
};
