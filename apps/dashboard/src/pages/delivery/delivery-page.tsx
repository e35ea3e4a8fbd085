import { useNavigate, useParams } from '@tanstack/react-router';
import { isMissing } from '../../api/errors.js';
import type { Attempt, DeliveryDetail } from '../../api/shapes.js';
import { useChange } from '../../api/use-change.js';
import { useRead } from '../../api/use-read.js';
import { Button, CopyButton } from '../../parts/button.js';
import { duration } from '../../parts/format.js';
import { Empty, NotFound, Reading, Refusal } from '../../parts/states.js';
import { Card, Facts, IdText, Moment, Page, Status } from '../../parts/text.js';
import { SignatureHeaders } from './signature-headers.js';

const PHASES = [
  { name: 'dns', label: 'DNS', of: 'dns_ms' },
  { name: 'tcp', label: 'TCP', of: 'tcp_ms' },
  { name: 'tls', label: 'TLS', of: 'tls_ms' },
  { name: 'wait', label: 'first byte', of: 'first_byte_ms' },
] as const;

/** Where the time of an attempt went. */
export const TimingBar = ({ timings }: { timings: Attempt['timings'] }) => {
  const whole = Math.max(1, timings.total_ms);
  let before = 0;
  const parts = PHASES.map(({ name, label, of }) => {
    const ms = timings[of] ?? 0;
    const part = { name, label, ms: timings[of], x: (100 * before) / whole, width: (100 * ms) / whole };
    before += ms;
    return part;
  });
  return (
    <div className="timing">
      <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect className="rest" width="100" height="1" />
        {parts.map(({ name, x, width }) => (
          <rect key={name} className={name} x={x} width={width} height="1" />
        ))}
      </svg>
      <ul className="legend">
        {parts
          .filter(({ ms }) => ms !== null)
          .map(({ name, label, ms }) => (
            <li key={name} className={name}>
              {label} {duration(ms ?? 0)}
            </li>
          ))}
        <li className="rest">all {duration(timings.total_ms)}</li>
      </ul>
    </div>
  );
};

const isSuccess = (code: number | null): boolean => code !== null && code >= 200 && code < 300;

/** Every attempt of a delivery, the latest first, with what the endpoint answered. */
export const AttemptList = ({ delivery }: { delivery: DeliveryDetail }) => {
  const { attempts_log: log, next_attempt_at: next, last_attempt: last } = delivery;
  // An end without an attempt, such as an endpoint that was removed, is in no log.
  const end = log.length === 0 || last === null || last.error === log.at(-1)?.error ? null : last.error;
  return (
    <>
      {next !== null && (
        <p>
          Next attempt: <Moment at={next} seconds />
        </p>
      )}
      {end !== null && (
        <p>
          Ended as <code>{end}</code>
        </p>
      )}
      {log.length === 0 && (
        <Empty title={last?.error ? `None was made: ${last.error}` : 'None yet'}>
          {next !== null && 'It is about to be sent; this page shows it.'}
        </Empty>
      )}
      <ol className="attempts">
        {log.toReversed().map((attempt) => (
          <li key={attempt.attempt}>
            <div className="attempt-head">
              <strong>{attempt.attempt}</strong>
              <span className={`status ${isSuccess(attempt.status_code) ? 'good' : 'bad'}`}>
                {attempt.status_code ?? 'no answer'}
              </span>
              <Moment at={attempt.at} seconds />
              <span className="hint">{duration(attempt.duration_ms)}</span>
            </div>
            {attempt.error && <p className="attempt-error">{attempt.error}</p>}
            <TimingBar timings={attempt.timings} />
            <Facts
              facts={{
                To: <code>{attempt.url}</code>,
                Address: attempt.address && <code>{attempt.address}</code>,
              }}
            />
            {attempt.answer !== '' && (
              <details>
                <summary>What it answered{attempt.answer_truncated && ' (the beginning)'}</summary>
                <pre className="code">{attempt.answer}</pre>
              </details>
            )}
          </li>
        ))}
      </ol>
    </>
  );
};

/** One delivery: what was sent, every attempt to do so, and a way to send it again. */
export const DeliveryPage = () => {
  const { id } = useParams({ from: '/signed-in/deliveries/$id' });
  const navigate = useNavigate();
  const path = `/webhook/deliveries/${encodeURIComponent(id)}`;
  const delivery = useRead<DeliveryDetail>('deliveries', path);
  const resend = useChange(['deliveries'], (api, _input: undefined) =>
    api.call<{ delivery_id: string }>('POST', `${path}/resend`),
  );
  if (isMissing(delivery.error)) return <NotFound what="Delivery" list="/deliveries" />;
  return (
    <Page
      title={delivery.data?.event ?? 'Delivery'}
      lead={
        delivery.data && (
          <p className="lead-line">
            <Status word={delivery.data.status} />
            <Moment at={delivery.data.created_at} seconds />
          </p>
        )
      }
      actions={
        delivery.data && (
          <Button
            isPending={resend.isPending}
            onPress={() =>
              resend.mutate(undefined, {
                onSuccess: ({ delivery_id }) => void navigate({ to: '/deliveries/$id', params: { id: delivery_id } }),
              })
            }
          >
            Resend
          </Button>
        )
      }
    >
      <Refusal error={resend.error} />
      <Reading of={delivery}>
        {(data) => (
          <>
            <Card title="Attempts">
              <AttemptList delivery={data} />
            </Card>
            <Card
              title="Body"
              actions={<CopyButton text={JSON.stringify(data.body)} what="the body as it is sent" />}
              hint="Laid out for reading; over the wire it has no white space."
            >
              <pre className="code">{JSON.stringify(data.body, null, 2)}</pre>
            </Card>
            <SignatureHeaders delivery={data} />
            <Card title="Ids">
              <Facts
                facts={{
                  Delivery: <IdText id={data.delivery_id} what="the delivery's id" />,
                  Event: <IdText id={data.event_id} what="the event's id" />,
                }}
              />
            </Card>
          </>
        )}
      </Reading>
    </Page>
  );
};
