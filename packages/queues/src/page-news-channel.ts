import { PAGE_TOPICS, type PageNews } from '@vat/domain';

const head = (prefix: string): string => `${prefix}:pages:`;

/** The channel of an account's news: Redis drops what is published while none of its people has a page open. */
export const pageNewsChannel = (prefix: string, accountId: string): string => head(prefix) + accountId;

/** The account whose channel it is; `null` when it is another kind of channel. */
export const accountOfChannel = (prefix: string, channel: string): string | null =>
  channel.startsWith(head(prefix)) ? channel.slice(head(prefix).length) : null;

const isNews = (item: unknown): item is PageNews => {
  const { topic, id } = (item ?? {}) as { topic?: unknown; id?: unknown };
  return PAGE_TOPICS.some((known) => known === topic) && (id === undefined || typeof id === 'string');
};

/** The news in a message; a topic that another version of this service knows is left out. */
export const readPageNews = (message: string): PageNews[] => {
  try {
    const items: unknown = JSON.parse(message);
    return Array.isArray(items) ? items.filter(isNews) : [];
  } catch {
    return [];
  }
};
