import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { signDelivery } from './sign-delivery.js';
import { newWebhookSecret } from './webhook-secret.js';

type Vector = {
  name: string;
  secret: string;
  id: string;
  timestamp: string;
  body: string;
  service_signature: string;
  webhook_signature: string;
};

/** The vectors that receivers verify with, so that both sides agree with the same file. */
const { signatures } = JSON.parse(
  readFileSync(new URL('../../receiver/vectors/conformance.json', import.meta.url), 'utf8'),
) as { signatures: Vector[] };

describe('signing a delivery', () => {
  test.each(signatures)('agrees with the published vector: $name', (vector) => {
    const { secret, id, timestamp, body } = vector;
    const at = new Date(Number(timestamp) * 1000 + 999);
    const headers = signDelivery({ secret, eventId: id, eventType: 'webhook.test', deliveryId: 'dlv_1', body, at });

    expect(headers['X-Service-Timestamp']).toBe(timestamp);
    expect(headers['X-Service-Signature']).toBe(vector.service_signature);
    expect(headers['webhook-signature']).toBe(vector.webhook_signature);
  });

  test('sets exactly the documented headers', () => {
    const secret = newWebhookSecret();
    const body = '{"event":"batch.completed","label":"Größe €"}';
    const at = new Date('2026-11-20T09:14:04.987Z');
    const headers = signDelivery({
      secret,
      eventId: 'evt_1',
      eventType: 'batch.completed',
      deliveryId: 'dlv_2',
      body,
      at,
    });

    const decoded = Buffer.from(secret.slice('whsec_'.length), 'base64');
    expect(headers).toEqual({
      'Content-Type': 'application/json',
      'User-Agent': 'vat-validation-service',
      'X-Service-Event': 'batch.completed',
      'X-Service-Timestamp': '1795166044',
      'X-Service-Signature': `sha256=${createHmac('sha256', secret).update(`1795166044.${body}`).digest('hex')}`,
      'X-Service-Delivery': 'dlv_2',
      'webhook-id': 'evt_1',
      'webhook-timestamp': '1795166044',
      'webhook-signature': `v1,${createHmac('sha256', decoded).update(`evt_1.1795166044.${body}`).digest('base64')}`,
    });
  });

  test('signs the timestamp of the attempt; a later attempt has another signature and the same id', () => {
    const delivery = {
      secret: newWebhookSecret(),
      eventId: 'evt_1',
      eventType: 'webhook.test',
      deliveryId: 'dlv_1',
      body: '{}',
    };
    const first = signDelivery({ ...delivery, at: new Date(1_000_000) });
    const second = signDelivery({ ...delivery, at: new Date(1_030_000) });
    expect(second['X-Service-Signature']).not.toBe(first['X-Service-Signature']);
    expect(second['webhook-signature']).not.toBe(first['webhook-signature']);
    expect(second['webhook-id']).toBe(first['webhook-id']);
  });
});
