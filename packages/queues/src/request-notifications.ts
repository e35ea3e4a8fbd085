import type { RedisConnection } from './connect-redis.js';

/** Notifies an API process that a request has changed. Notifications may be lost or duplicated; Postgres holds the state. */
type PublishNotification = (replyTo: string, requestId: string) => Promise<void>;

const channelOf = (prefix: string, replyTo: string): string => `${prefix}:notifications:${replyTo}`;

export const publishNotification =
  (connection: RedisConnection, prefix: string): PublishNotification =>
  async (replyTo, requestId) => {
    await connection.publish(channelOf(prefix, replyTo), requestId);
  };

/**
 * Subscribes to the notifications of this process. `connection` is used for subscriptions only, and has the role `consumer`:
 * it waits for Redis and subscribes again after a reconnect.
 */
export const subscribeNotifications = (
  connection: RedisConnection,
  prefix: string,
  replyTo: string,
  onNotification: (requestId: string) => void,
): void => {
  const own = channelOf(prefix, replyTo);
  // Other subscriptions share this connection.
  connection.on('message', (channel: string, requestId: string) => {
    if (channel === own) onNotification(requestId);
  });
  connection.subscribe(own).catch(() => undefined);
};
