import { createHmac, randomBytes } from 'node:crypto';

/** Makes a secret in the form of those of webhooks. */
export const makeSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** What is signed. `secret` as shown to the user, `whsec_…`; `at`: the time of the attempt. */
type EventToSign = { secret: string; id: string; type: string; body: string; at: Date };

/**
 * The headers of a delivery with both signatures, as the service sends them, for `verify` of `@vat/receiver`. Without
 * `X-Service-Delivery`: an event that was read has no delivery.
 */
export const signEvent = ({ secret, id, type, body, at }: EventToSign): Record<string, string> => {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const hmac = (key: string | Buffer, message: string) => createHmac('sha256', key).update(message);
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return {
    'Content-Type': 'application/json',
    'User-Agent': 'vat-validation-service (vat listen)',
    'X-Service-Event': type,
    'X-Service-Timestamp': timestamp,
    'X-Service-Signature': `sha256=${hmac(secret, `${timestamp}.${body}`).digest('hex')}`,
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${hmac(key, `${id}.${timestamp}.${body}`).digest('base64')}`,
  };
};
