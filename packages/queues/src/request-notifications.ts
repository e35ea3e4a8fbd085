import type { StoredCheck } from '@vat/domain';
import type { RedisConnection } from './connect-redis.js';

/** A request that has changed. `check`: the one that was recorded, for a process that reads it here. */
type Notification = { requestId: string; check?: StoredCheck | undefined };

/** Notifies an API process that a request has changed. Notifications may be lost or duplicated; Postgres holds the state. */
type PublishNotification = (replyTo: string, notification: Notification) => Promise<void>;

const channelOf = (prefix: string, replyTo: string): string => `${prefix}:notifications:${replyTo}`;

/** The id of the request; with a check its id, its hash and its body in the following lines. RFC 8785 has no line breaks. */
const write = ({ requestId, check }: Notification): string =>
  check === undefined
    ? requestId
    : [requestId, check.id, Buffer.from(check.hash).toString('hex'), Buffer.from(check.bytes).toString()].join('\n');

const read = (message: string): Notification => {
  const [requestId = '', id, hash, body] = message.split('\n');
  if (id === undefined || hash === undefined || body === undefined) return { requestId };
  return { requestId, check: { id, hash: Buffer.from(hash, 'hex'), bytes: Buffer.from(body) } };
};

export const publishNotification =
  (connection: RedisConnection, prefix: string): PublishNotification =>
  async (replyTo, notification) => {
    await connection.publish(channelOf(prefix, replyTo), write(notification));
  };

/**
 * Subscribes to the notifications of this process. `connection` is used for subscriptions only, and has the role `consumer`:
 * it waits for Redis and subscribes again after a reconnect.
 */
export const subscribeNotifications = (
  connection: RedisConnection,
  prefix: string,
  replyTo: string,
  onNotification: (notification: Notification) => void,
): void => {
  const own = channelOf(prefix, replyTo);
  // Other subscriptions share this connection.
  connection.on('message', (channel: string, message: string) => {
    if (channel === own) onNotification(read(message));
  });
  connection.subscribe(own).catch(() => undefined);
};
