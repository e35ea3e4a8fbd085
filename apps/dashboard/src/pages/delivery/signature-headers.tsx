import { useEffect, useState } from 'react';
import type { DeliveryDetail } from '../../api/shapes.js';
import { Choice, Field } from '../../parts/form.js';
import { Card, Facts, Moment } from '../../parts/text.js';
import { hexOf } from '../../proof/hash.js';

/** The two signatures of an attempt. Source: contract parts 1 §5 and 2 §8. */
type Signatures = { service: string; standard: string };

type AttemptToSign = { secret: string; eventId: string; at: Date; body: string };

/** Computes them by Web Crypto. Rejects for a secret that is not `whsec_` and base64. */
const signAttempt =
  (crypto: Crypto) =>
  async ({ secret, eventId, at, body }: AttemptToSign): Promise<Signatures> => {
    const text = new TextEncoder();
    const timestamp = Math.floor(at.getTime() / 1_000);
    const hmac = async (key: Uint8Array<ArrayBuffer>, message: string) => {
      const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
      return new Uint8Array(await crypto.subtle.sign('HMAC', imported, text.encode(message)));
    };
    const standardKey = Uint8Array.from(atob(secret.replace(/^whsec_/, '')), (letter) => letter.charCodeAt(0));
    const service = await hmac(text.encode(secret), `${timestamp}.${body}`);
    const standard = await hmac(standardKey, `${eventId}.${timestamp}.${body}`);
    return { service: `sha256=${hexOf(service)}`, standard: `v1,${btoa(String.fromCharCode(...standard))}` };
  };

/**
 * The headers an attempt was sent with. The service keeps no signature and gives no secret away, so who knows the secret
 * can have this browser compute what the receiver should have seen; nothing of it is sent anywhere.
 */
export const SignatureHeaders = ({ delivery }: { delivery: DeliveryDetail }) => {
  const { attempts_log: log, body, event, event_id, delivery_id } = delivery;
  const [number, setNumber] = useState<string | null>(null);
  const [secret, setSecret] = useState('');
  const [signatures, setSignatures] = useState<Signatures | null>(null);
  const attempt = log.find((one) => String(one.attempt) === number) ?? log.at(-1);
  const at = attempt?.at;
  useEffect(() => {
    if (at === undefined || secret === '') return setSignatures(null);
    let isCurrent = true;
    const sign = signAttempt(globalThis.crypto);
    sign({ secret, eventId: event_id, at: new Date(at), body: JSON.stringify(body) }).then(
      (made) => isCurrent && setSignatures(made),
      () => isCurrent && setSignatures(null),
    );
    return () => {
      isCurrent = false;
    };
  }, [at, secret, body, event_id]);

  if (!attempt || at === undefined) return null;
  const timestamp = Math.floor(Date.parse(at) / 1_000);
  const signed = (value: string | undefined) =>
    value === undefined ? <em>enter the secret below to see it</em> : <code>{value}</code>;
  return (
    <Card title="Signature headers">
      {log.length > 1 && (
        <Choice
          label="Of attempt"
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
              <code>{timestamp}</code> (<Moment at={at} seconds />)
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
        hint="Stays in this browser: it computes what your receiver should have seen, to compare with what it did see."
      />
    </Card>
  );
};
