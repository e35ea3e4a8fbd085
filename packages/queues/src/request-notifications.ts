import { createHmac, createSecretKey, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { StoredCheck } from '@vat/domain';
import type { RedisConnection } from './connect-redis.js';

/** A request that has changed. `check`: the one that was recorded, for a process that reads it here. */
type Notification = { requestId: string; check?: StoredCheck | undefined };

/** Notifies an API process that a request has changed. Notifications may be lost or duplicated; Postgres holds the state. */
type PublishNotification = (replyTo: string, notification: Notification) => Promise<void>;

const channelOf = (prefix: string, replyTo: string): string => `${prefix}:notifications:${replyTo}`;

type NotificationForm = { write: (notification: Notification) => string; read: (message: string) => Notification };

/**
 * The id of the request; with a check its id, hash and body in the following lines (RFC 8785 has no line breaks), and an
 * HMAC-SHA-256 of all that under a key derived from SECRET_KEY: nobody who can only write to Redis can make up a check. A check
 * without the right one is left out, and the process reads Postgres.
 */
const notificationForm = (secretKey: string): NotificationForm => {
  const key = createSecretKey(Buffer.from(hkdfSync('sha256', secretKey, '', 'vat notification of a check: key 1', 32)));
  const macOf = (text: string): Buffer => createHmac('sha256', key).update(text).digest();
  return {
    write: ({ requestId, check }) => {
      if (check === undefined) return requestId;
      const { id, hash, bytes } = check;
      const text = [requestId, id, Buffer.from(hash).toString('hex'), Buffer.from(bytes).toString()].join('\n');
      return `${text}\n${macOf(text).toString('hex')}`;
    },
    read: (message) => {
      const [requestId = '', id, hash, body, mac = ''] = message.split('\n');
      if (id === undefined || hash === undefined || body === undefined) return { requestId };
      const [expected, given] = [macOf(message.slice(0, message.lastIndexOf('\n'))), Buffer.from(mac, 'hex')];
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return { requestId };
      return { requestId, check: { id, hash: Buffer.from(hash, 'hex'), bytes: Buffer.from(body) } };
    },
  };
};

/** `secretKey`: SECRET_KEY, the same for publishers and subscribers. */
export const publishNotification = (
  connection: RedisConnection,
  prefix: string,
  secretKey: string,
): PublishNotification => {
  const { write } = notificationForm(secretKey);
  return async (replyTo, notification) => {
    await connection.publish(channelOf(prefix, replyTo), write(notification));
  };
};

/**
 * Subscribes to the notifications of this process. `connection` is used for subscriptions only, and has the role `consumer`:
 * it waits for Redis and subscribes again after a reconnect.
 */
export const subscribeNotifications = (
  connection: RedisConnection,
  { prefix, secretKey, replyTo }: { prefix: string; secretKey: string; replyTo: string },
  onNotification: (notification: Notification) => void,
): void => {
  const { read } = notificationForm(secretKey);
  const own = channelOf(prefix, replyTo);
  // Other subscriptions share this connection.
  connection.on('message', (channel: string, message: string) => {
    if (channel === own) onNotification(read(message));
  });
  connection.subscribe(own).catch(() => undefined);
};
