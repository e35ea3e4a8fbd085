import { PAGE_TOPICS, type PageTopic, type PageUpdate, type PublishChange } from '@vat/domain';
import type { Redis } from 'ioredis';

/** Passes news on, but no more often than every so often an account. */
export type PageUpdateCoalescer = {
  tell: PublishChange;
  /** Passes on at once what has gathered. */
  flush: () => void;
};

/** News of an account since its last message. `null`: several of a topic changed. */
type Gathered = Map<PageTopic, string | null | undefined>;

/** What is caused by one event and told one after the other goes out together. */
const TOGETHER_MS = 20;

const updatesOf = (gathered: Gathered): PageUpdate[] =>
  [...gathered].map(([topic, id]) => (typeof id === 'string' ? { topic, id } : { topic }));

/**
 * The first news of an account go out at once, and what follows within `everyMs` milliseconds as one message at the end
 * of that time: ten thousand lines of a batch make as many messages as they take intervals. An account is held only while
 * its news are young.
 */
export const coalescePageUpdates = (
  everyMs: number,
  send: (accountId: string, news: PageUpdate[]) => void,
): PageUpdateCoalescer => {
  const young = new Map<string, { gathered: Gathered; timer: NodeJS.Timeout }>();

  const wait = (accountId: string, ms: number): Gathered => {
    const gathered: Gathered = new Map();
    young.set(accountId, { gathered, timer: setTimeout(() => end(accountId, gathered), ms).unref() });
    return gathered;
  };
  const end = (accountId: string, gathered: Gathered): void => {
    young.delete(accountId);
    if (gathered.size === 0) return;
    wait(accountId, everyMs);
    send(accountId, updatesOf(gathered));
  };

  return {
    tell: (accountId, topic, id) => {
      const gathered = young.get(accountId)?.gathered ?? wait(accountId, TOGETHER_MS);
      gathered.set(topic, gathered.has(topic) && gathered.get(topic) !== id ? null : id);
    },
    flush: () => {
      const rest = [...young];
      young.clear();
      for (const [accountId, { gathered, timer }] of rest) {
        clearTimeout(timer);
        if (gathered.size > 0) send(accountId, updatesOf(gathered));
      }
    },
  };
};

const head = (prefix: string): string => `${prefix}:pages:`;

/** The channel of an account's news: Redis drops what is published while none of its people has a page open. */
export const pageUpdateChannel = (prefix: string, accountId: string): string => head(prefix) + accountId;

/** The account whose channel it is; `null` when it is another kind of channel. */
export const accountOfChannel = (prefix: string, channel: string): string | null =>
  channel.startsWith(head(prefix)) ? channel.slice(head(prefix).length) : null;

const isPageUpdate = (item: unknown): item is PageUpdate => {
  const { topic, id } = (item ?? {}) as { topic?: unknown; id?: unknown };
  return PAGE_TOPICS.some((known) => known === topic) && (id === undefined || typeof id === 'string');
};

/** The news in a message; a topic that another version of this service knows is left out. */
export const readPageUpdates = (message: string): PageUpdate[] => {
  try {
    const items: unknown = JSON.parse(message);
    return Array.isArray(items) ? items.filter(isPageUpdate) : [];
  } catch {
    return [];
  }
};

/** Messages an account and process: at most two a second. */
const EVERY_MS = 500;

/** Publishes news for pages over a producer's connection. While Redis is away they are dropped: pages ask by themselves. */
export const publishPageUpdates = (connection: Redis, prefix: string): { tell: PublishChange; close: () => void } => {
  const { tell, flush } = coalescePageUpdates(EVERY_MS, (accountId, news) => {
    connection.publish(pageUpdateChannel(prefix, accountId), JSON.stringify(news)).catch(() => undefined);
  });
  // What was told last goes out before the connection is closed, which it leaves before Redis answers.
  return { tell, close: flush };
};

/** What a process hears of the accounts whose people have pages open on it. */
export type PageUpdateSubscription = {
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
export const subscribePageUpdates = (
  connection: Redis,
  prefix: string,
  onUpdates: (accountId: string, news: PageUpdate[]) => void,
): PageUpdateSubscription => {
  connection.on('message', (channel: string, message: string) => {
    const accountId = accountOfChannel(prefix, channel);
    if (accountId !== null) onUpdates(accountId, readPageUpdates(message));
  });
  return {
    follow: async (accountId) => {
      await connection.subscribe(pageUpdateChannel(prefix, accountId)).catch(() => undefined);
    },
    unfollow: (accountId) => {
      connection.unsubscribe(pageUpdateChannel(prefix, accountId)).catch(() => undefined);
    },
    isListening: () => connection.status === 'ready',
  };
};
