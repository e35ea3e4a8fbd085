import type { Redis } from 'ioredis';

/** Tells API processes that a request moved. Only a hint: it may be lost or come twice, and Postgres is read for the truth. */
export type PublishNotification = (replyTo: string, requestId: string) => Promise<void>;

const channelOf = (prefix: string, replyTo: string): string => `${prefix}:hints:${replyTo}`;

export const publishNotification =
  (connection: Redis, prefix: string): PublishNotification =>
  async (replyTo, requestId) => {
    await connection.publish(channelOf(prefix, replyTo), requestId);
  };

/**
 * Listens for this process's hints over a connection of its own (a subscribed connection can do nothing else), of the
 * consumer kind: it waits for Redis and subscribes again after a reconnect by itself.
 */
export const subscribeNotifications = (
  connection: Redis,
  prefix: string,
  replyTo: string,
  onNotification: (requestId: string) => void,
): void => {
  const own = channelOf(prefix, replyTo);
  // The process hears of other things over this connection, too.
  connection.on('message', (channel: string, requestId: string) => {
    if (channel === own) onNotification(requestId);
  });
  connection.subscribe(own).catch(() => undefined);
};
