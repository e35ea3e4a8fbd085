import { PAGE_TOPICS, type PageTopic, type PageUpdate, type PublishChange } from '@vat/domain';
import type { RedisConnection } from './connect-redis.js';

/** Coalesces page updates into a limited number of messages per account. */
type PageUpdateCoalescer = {
  publish: PublishChange;
  /** Sends the pending updates at once. */
  flush: () => void;
};

/** The updates of an account since its last message. `null`: several objects of a topic changed. */
type PendingUpdates = Map<PageTopic, string | null | undefined>;

/** Updates that one event causes one after the other are sent in one message. */
const COALESCE_MS = 20;

const updatesOf = (pending: PendingUpdates): PageUpdate[] =>
  [...pending].map(([topic, id]) => (typeof id === 'string' ? { topic, id } : { topic }));

/**
 * Sends the first updates of an account at once, and those that follow within `everyMs` milliseconds as one message at the
 * end of that time: ten thousand lines of a batch cause one message per interval. An account is removed from memory after an
 * interval without updates.
 */
export const coalescePageUpdates = (
  everyMs: number,
  send: (accountId: string, updates: PageUpdate[]) => void,
): PageUpdateCoalescer => {
  const accounts = new Map<string, { pending: PendingUpdates; timer: NodeJS.Timeout }>();

  const startInterval = (accountId: string, ms: number): PendingUpdates => {
    const pending: PendingUpdates = new Map();
    accounts.set(accountId, { pending, timer: setTimeout(() => endInterval(accountId, pending), ms).unref() });
    return pending;
  };
  const endInterval = (accountId: string, pending: PendingUpdates): void => {
    accounts.delete(accountId);
    if (pending.size === 0) return;
    startInterval(accountId, everyMs);
    send(accountId, updatesOf(pending));
  };

  return {
    publish: (accountId, topic, id) => {
      const pending = accounts.get(accountId)?.pending ?? startInterval(accountId, COALESCE_MS);
      pending.set(topic, pending.has(topic) && pending.get(topic) !== id ? null : id);
    },
    flush: () => {
      const remaining = [...accounts];
      accounts.clear();
      for (const [accountId, { pending, timer }] of remaining) {
        clearTimeout(timer);
        if (pending.size > 0) send(accountId, updatesOf(pending));
      }
    },
  };
};

const channelPrefix = (prefix: string): string => `${prefix}:pages:`;

/** The channel of an account's page updates. Redis drops messages while no process is subscribed to it. */
const pageUpdateChannel = (prefix: string, accountId: string): string => channelPrefix(prefix) + accountId;

/** The account of a channel; `null` for another kind of channel. */
const accountOfChannel = (prefix: string, channel: string): string | null =>
  channel.startsWith(channelPrefix(prefix)) ? channel.slice(channelPrefix(prefix).length) : null;

const isPageUpdate = (item: unknown): item is PageUpdate => {
  const { topic, id } = (item ?? {}) as { topic?: unknown; id?: unknown };
  return PAGE_TOPICS.some((known) => known === topic) && (id === undefined || typeof id === 'string');
};

/** Parses a message. Topics that this version does not know are dropped. */
const readPageUpdates = (message: string): PageUpdate[] => {
  try {
    const items: unknown = JSON.parse(message);
    return Array.isArray(items) ? items.filter(isPageUpdate) : [];
  } catch {
    return [];
  }
};

/** At most two messages a second per account and process. */
const MESSAGE_INTERVAL_MS = 500;

/** Publishes page updates over a producer's connection. They are dropped while Redis is unavailable: pages also poll. */
export const publishPageUpdates = (
  connection: RedisConnection,
  prefix: string,
): { publish: PublishChange; close: () => void } => {
  const { publish, flush } = coalescePageUpdates(MESSAGE_INTERVAL_MS, (accountId, updates) => {
    connection.publish(pageUpdateChannel(prefix, accountId), JSON.stringify(updates)).catch(() => undefined);
  });
  // The last updates are sent before the caller closes the connection.
  return { publish, close: flush };
};

/** The subscriptions of a process to the accounts that have pages open on it. */
export type PageUpdateSubscription = {
  /** Subscribes to an account; resolves once the subscription is active, which waits for Redis. */
  follow: (accountId: string) => Promise<void>;
  unfollow: (accountId: string) => void;
  /** False while the connection is down and no updates arrive. */
  isListening: () => boolean;
};

/**
 * Receives page updates over the process's subscription connection. It has the role `consumer`, so it subscribes again after
 * a reconnect. Each account has its own channel, so a process receives only the updates it needs.
 */
export const subscribePageUpdates = (
  connection: RedisConnection,
  prefix: string,
  onUpdates: (accountId: string, updates: PageUpdate[]) => void,
): PageUpdateSubscription => {
  connection.on('message', (channel: string, message: string) => {
    const accountId = accountOfChannel(prefix, channel);
    if (accountId !== null) onUpdates(accountId, readPageUpdates(message));
  });
  /** The accounts that are followed, and those whose subscription is being changed. */
  const followed = new Set<string>();
  const changing = new Map<string, Promise<void>>();
  const change = async (accountId: string): Promise<void> => {
    const channel = pageUpdateChannel(prefix, accountId);
    for (let isSubscribed: boolean | undefined; isSubscribed !== followed.has(accountId); ) {
      isSubscribed = followed.has(accountId);
      await (isSubscribed ? connection.subscribe(channel) : connection.unsubscribe(channel)).catch(() => undefined);
    }
    changing.delete(accountId);
  };
  /** One command of an account at a time. While Redis is away they wait in memory, and each caller that comes and goes would add two. */
  const changeInTurn = (accountId: string): Promise<void> => {
    const changed = changing.get(accountId) ?? change(accountId);
    changing.set(accountId, changed);
    return changed;
  };
  return {
    follow: (accountId) => {
      followed.add(accountId);
      return changeInTurn(accountId);
    },
    unfollow: (accountId) => {
      followed.delete(accountId);
      void changeInTurn(accountId);
    },
    isListening: () => connection.status === 'ready',
  };
};
