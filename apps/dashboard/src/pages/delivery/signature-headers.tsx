import { bytesToHex, hmac, sha256 } from '@vat/evidence/portable';
import { useState } from 'react';
import type { DeliveryDetail } from '../../api/shapes.js';
import { Field, Select } from '../../parts/form.js';
import { Card, DateTime, Facts } from '../../parts/text.js';

/** The signatures of an attempt: of the service, and of Standard Webhooks. See docs/webhooks.md. */
type Signatures = { service: string; standard: string };

type AttemptToSign = { secret: string; eventId: string; timestamp: number; body: string };

/** Null when the secret is not `whsec_` and base64. */
const signAttempt = ({ secret, eventId, timestamp, body }: AttemptToSign): Signatures | null => {
  const sign = (key: Uint8Array, message: string) => hmac(sha256, key, new TextEncoder().encode(message));
  try {
    const standardKey = Uint8Array.from(atob(secret.replace(/^whsec_/, '')), (letter) => letter.charCodeAt(0));
    const service = sign(new TextEncoder().encode(secret), `${timestamp}.${body}`);
    const standard = sign(standardKey, `${eventId}.${timestamp}.${body}`);
    return { service: `sha256=${bytesToHex(service)}`, standard: `v1,${btoa(String.fromCharCode(...standard))}` };
  } catch {
    return null;
  }
};

/**
 * The signature headers of an attempt. The service stores no signatures and never returns the secret, so the browser computes
 * the signatures from a secret that the user enters. The secret is not sent anywhere.
 */
export const SignatureHeaders = ({ delivery }: { delivery: DeliveryDetail }) => {
  const { attempts_log: log, body, event, event_id, delivery_id } = delivery;
  const [number, setNumber] = useState<string | null>(null);
  const [secret, setSecret] = useState('');
  const attempt = log.find(({ attempt: candidate }) => String(candidate) === number) ?? log.at(-1);
  if (!attempt) return null;
  const { at } = attempt;
  const timestamp = Math.floor(Date.parse(at) / 1_000);
  const signatures =
    secret === '' ? null : signAttempt({ secret, eventId: event_id, timestamp, body: JSON.stringify(body) });
  const signed = (value: string | undefined) =>
    value === undefined ? <em>enter the secret below to compute it</em> : <code>{value}</code>;
  return (
    <Card title="Signature headers">
      {log.length > 1 && (
        <Select
          label="Attempt"
          value={String(attempt.attempt)}
          options={log.map((one) => ({ value: String(one.attempt), label: String(one.attempt) }))}
          onChange={setNumber}
        />
      )}
      <Facts
        facts={{
          'X-Service-Event': <code>{event}</code>,
          'X-Service-Timestamp': (
            <>
              <code>{timestamp}</code> (<DateTime at={at} exact />)
            </>
          ),
          'X-Service-Signature': signed(signatures?.service),
          'X-Service-Delivery': <code>{delivery_id}</code>,
          'webhook-id': <code>{event_id}</code>,
          'webhook-timestamp': <code>{timestamp}</code>,
          'webhook-signature': signed(signatures?.standard),
        }}
      />
      <Field
        label="Secret"
        type="password"
        autoComplete="off"
        placeholder="whsec_…"
        value={secret}
        onChange={setSecret}
        hint="The secret stays in this browser. Compare the computed signatures with those your server received."
      />
    </Card>
  );
};
