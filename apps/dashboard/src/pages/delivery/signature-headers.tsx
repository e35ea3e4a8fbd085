import { useEffect, useState } from 'react';
import type { DeliveryDetail } from '../../api/shapes.js';
import { Card } from '../../parts/card.js';
import { Choice } from '../../parts/choice.js';
import { Facts } from '../../parts/facts.js';
import { Field } from '../../parts/field.js';
import { Moment } from '../../parts/moment.js';
import { type Signatures, signAttempt } from './sign-attempt.js';

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
