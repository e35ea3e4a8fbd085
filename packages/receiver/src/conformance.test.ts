import { readFile } from 'node:fs/promises';
import { Webhook } from 'standardwebhooks';
import type { WebhookEvent } from './events.js';
import { EVENT_ID, signedHeaders } from './signed-delivery.fixture.js';
import { verify } from './verify.js';

type Vector = {
  name: string;
  secret: string;
  id: string;
  timestamp: string;
  body: string;
  service_signature: string;
  webhook_signature: string;
};

/** A delivery as a receiver sees it; `received_at` is the receiver's clock in Unix seconds. */
type Delivery = {
  name: string;
  headers: Record<string, string>;
  body: string;
  secrets: string[];
  received_at: number;
  error: string | null;
  event_id: string | null;
};

const file = new URL('../vectors/conformance.json', import.meta.url);
const { signatures: vectors, deliveries } = JSON.parse(await readFile(file, 'utf8')) as {
  signatures: Vector[];
  deliveries: Delivery[];
};
const timeOf = ({ timestamp }: Vector) => new Date(Number(timestamp) * 1000);

/** The documented keys of each event, and `test` if a test key caused the event. */
const KEYS: Record<WebhookEvent['event'], string[]> = {
  'check.completed': ['event', 'request_id', 'check'],
  'check.failed': ['event', 'test', 'request_id', 'reason', 'last_error'],
  'batch.completed': ['event', 'batch_id', 'total', 'done', 'failed'],
  'watch.changed': ['event', 'watch_id', 'vat_number', 'label', 'kind', 'before', 'after', 'check_id'],
  'webhook.test': ['event', 'sent_at'],
};

describe('the published signatures', () => {
  it('contain every event, with exactly its keys', () => {
    const bodies = vectors.map(({ body }) => JSON.parse(body) as WebhookEvent);
    expect(Object.fromEntries(bodies.map((body) => [body.event, Object.keys(body)]))).toEqual(KEYS);
  });

  it.each(vectors)('$name: verifies by the service’s own scheme', (vector) => {
    const headers = { 'X-Service-Signature': vector.service_signature, 'X-Service-Timestamp': vector.timestamp };
    const delivery = verify({ headers, rawBody: vector.body, secret: vector.secret, now: () => timeOf(vector) });
    expect(delivery.event).toEqual(JSON.parse(vector.body));
  });

  it.each(vectors)('$name: verifies by Standard Webhooks', (vector) => {
    const headers = {
      'webhook-id': vector.id,
      'webhook-timestamp': vector.timestamp,
      'webhook-signature': vector.webhook_signature,
    };
    const delivery = verify({ headers, rawBody: vector.body, secret: vector.secret, now: () => timeOf(vector) });
    expect(delivery.id).toBe(vector.id);
  });

  it.each(vectors)('$name: has the same signature from the public standardwebhooks library', (vector) => {
    expect(new Webhook(vector.secret).sign(vector.id, timeOf(vector), vector.body)).toBe(vector.webhook_signature);
  });
});

describe('the published deliveries', () => {
  it.each(deliveries)('$name: $error', ({ headers, body, secrets, received_at, error, event_id }) => {
    const receive = () => verify({ headers, rawBody: body, secret: secrets, now: () => new Date(received_at * 1000) });
    if (error === null) expect(receive()).toMatchObject({ id: event_id, event: JSON.parse(body) });
    else expect(receive).toThrow(expect.objectContaining({ name: 'VerificationError', code: error }));
  });
});

describe('the public standardwebhooks library', () => {
  const body = vectors[1]?.body ?? '';
  const secret = vectors[1]?.secret ?? '';

  it('verifies what verify() verifies, with only the secret', () => {
    const headers = signedHeaders({ secret, body, sentAt: new Date() });
    expect(new Webhook(secret).verify(body, headers)).toEqual(verify({ headers, rawBody: body, secret }).event);
  });

  it('refuses what verify() refuses', () => {
    const headers = signedHeaders({ secret, body, sentAt: new Date(Date.now() - 302_000) });
    expect(() => new Webhook(secret).verify(body, headers)).toThrow('too old');
    expect(() => verify({ headers, rawBody: body, secret })).toThrow('behind this clock');
  });

  it('makes signatures that verify() accepts', () => {
    const sentAt = new Date();
    const headers = {
      'webhook-id': EVENT_ID,
      'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign(EVENT_ID, sentAt, body),
    };
    expect(verify({ headers, rawBody: body, secret }).id).toBe(EVENT_ID);
  });
});
