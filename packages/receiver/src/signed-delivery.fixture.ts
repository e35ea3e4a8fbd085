import { createHmac } from 'node:crypto';

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
export const OTHER_SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
export const SENT_AT = new Date('2026-11-20T09:14:04.000Z');
export const BODY = '{"event":"webhook.test","sent_at":"2026-11-20T09:14:04.000Z"}';
export const EVENT_ID = 'evt_01kafkrzpgexf9efg75qhsr6cv';
export const DELIVERY_ID = 'dlv_01kafkrzpgexf9efg75qhsr6cw';

type Overrides = { secret?: string; sentAt?: Date; body?: string; id?: string };

/** All headers of a delivery as the service sends it, signed independently of the code under test. */
export const signedHeaders = ({
  secret = SECRET,
  sentAt = SENT_AT,
  body = BODY,
  id = EVENT_ID,
}: Overrides = {}): Record<string, string> => {
  const seconds = String(Math.floor(sentAt.getTime() / 1000));
  const own = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const standard = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'x-service-event': 'webhook.test',
    'x-service-timestamp': seconds,
    'x-service-signature': `sha256=${own}`,
    'x-service-delivery': DELIVERY_ID,
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': `v1,${standard}`,
  };
};

/** Only the headers whose names begin with `prefix`. */
export const headersOf = (prefix: string, headers = signedHeaders()): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith(prefix)));
