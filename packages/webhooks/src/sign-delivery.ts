import { createHmac } from 'node:crypto';
import { userAgentOf } from '@vat/domain';

/**
 * The input of a signature. `secret` is as shown to the user (`whsec_…`), ids are as the receiver sees them, `at` is
 * the time of the attempt.
 */
type DeliveryToSign = {
  secret: string;
  eventId: string;
  eventType: string;
  deliveryId: string;
  body: string;
  at: Date;
  userAgent?: string;
};

const hmac = (key: string | Buffer, message: string) => createHmac('sha256', key).update(message);

/**
 * All headers of an attempt (docs/webhooks.md): the service's own signature, whose HMAC key is the whole secret string,
 * and the Standard Webhooks signature, whose key is the decoded bytes after `whsec_`. Both use the same timestamp.
 */
export const signDelivery = ({
  secret,
  eventId,
  eventType,
  deliveryId,
  body,
  at,
  userAgent = userAgentOf(),
}: DeliveryToSign) => {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const standardKey = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const headers: Record<string, string> = {
    'Content-Type': 'application/json',
    'User-Agent': userAgent,
    'X-Service-Event': eventType,
    'X-Service-Timestamp': timestamp,
    'X-Service-Signature': `sha256=${hmac(secret, `${timestamp}.${body}`).digest('hex')}`,
    'X-Service-Delivery': deliveryId,
    'webhook-id': eventId,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${hmac(standardKey, `${eventId}.${timestamp}.${body}`).digest('base64')}`,
  };
  return headers;
};
