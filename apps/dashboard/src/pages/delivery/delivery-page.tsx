import { useNavigate, useParams } from '@tanstack/react-router';
import type { Attempt, DeliveryDetail } from '../../api/shapes.js';
import { useApiMutation } from '../../api/use-api-mutation.js';
import { useApiQuery } from '../../api/use-api-query.js';
import { Button, CopyButton } from '../../parts/button.js';
import { DetailPage } from '../../parts/detail-page.js';
import { duration } from '../../parts/format.js';
import { Empty } from '../../parts/states.js';
import { Card, DateTime, Facts, IdText } from '../../parts/text.js';
import { Changing } from '../../session/session.js';
import { SignatureHeaders } from './signature-headers.js';

const PHASES = [
  { name: 'dns', label: 'DNS', of: 'dns_ms' },
  { name: 'tcp', label: 'TCP', of: 'tcp_ms' },
  { name: 'tls', label: 'TLS', of: 'tls_ms' },
  { name: 'wait', label: 'first byte', of: 'first_byte_ms' },
] as const;

const TimingBar = ({ timings }: { timings: Attempt['timings'] }) => {
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
        <li className="rest">total {duration(timings.total_ms)}</li>
      </ul>
    </div>
  );
};

const isSuccess = (code: number | null): boolean => code !== null && code >= 200 && code < 300;

/** The attempts of a delivery, newest first, with the responses of the endpoint. */
const AttemptList = ({ delivery }: { delivery: DeliveryDetail }) => {
  const { attempts_log: log, next_attempt_at: next, last_attempt: last } = delivery;
  // A delivery that ended without an attempt, such as after removal of the endpoint, has no log entry for its end.
  const end = log.length === 0 || last === null || last.error === log.at(-1)?.error ? null : last.error;
  return (
    <>
      {next !== null && (
        <p>
          Next attempt: <DateTime at={next} exact />
        </p>
      )}
      {end !== null && (
        <p>
          Ended with <code>{end}</code>
        </p>
      )}
      {log.length === 0 && (
        <Empty title={last?.error ? `No attempts: ${last.error}` : 'No attempts yet'}>
          {next !== null && 'The first attempt starts soon. This page updates automatically.'}
        </Empty>
      )}
      <ol className="attempts">
        {log.toReversed().map((attempt) => (
          <li key={attempt.attempt}>
            <div className="attempt-head">
              <strong>{attempt.attempt}</strong>
              <span className={`status ${isSuccess(attempt.status_code) ? 'good' : 'bad'}`}>
                {attempt.status_code ?? 'no response'}
              </span>
              <DateTime at={attempt.at} exact />
              <span className="hint">{duration(attempt.duration_ms)}</span>
            </div>
            {attempt.error && <p className="attempt-error">{attempt.error}</p>}
            <TimingBar timings={attempt.timings} />
            <Facts
              facts={{
                URL: <code>{attempt.url}</code>,
                'IP address': attempt.address && <code>{attempt.address}</code>,
              }}
            />
            {attempt.answer !== '' && (
              <details>
                <summary>Response{attempt.answer_truncated && ' (truncated)'}</summary>
                <pre className="code">{attempt.answer}</pre>
              </details>
            )}
          </li>
        ))}
      </ol>
    </>
  );
};

/** One delivery: its attempts, its body, and the button to resend it. */
export const DeliveryPage = () => {
  const { id } = useParams({ from: '/signed-in/deliveries/$id' });
  const navigate = useNavigate();
  const path = `/webhook/deliveries/${encodeURIComponent(id)}`;
  const delivery = useApiQuery<DeliveryDetail>('deliveries', path);
  const resend = useApiMutation(['deliveries'], (api) => api.call<{ delivery_id: string }>('POST', `${path}/resend`));
  return (
    <DetailPage
      what="Delivery"
      list="/deliveries"
      query={delivery}
      head={({ event: title, status, created_at }) => ({ title, status, lead: <DateTime at={created_at} exact /> })}
      actions={() => (
        <Changing>
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
        </Changing>
      )}
      error={resend.error}
    >
      {(data) => (
        <>
          <Card title="Attempts">
            <AttemptList delivery={data} />
          </Card>
          <Card
            title="Body"
            actions={<CopyButton text={JSON.stringify(data.body)} what="the body as sent" />}
            hint="Indented for readability. The body is sent without white space."
          >
            <pre className="code">{JSON.stringify(data.body, null, 2)}</pre>
          </Card>
          <SignatureHeaders delivery={data} />
          <Card title="IDs">
            <Facts
              facts={{
                Delivery: <IdText id={data.delivery_id} what="the delivery ID" />,
                Event: <IdText id={data.event_id} what="the event ID" />,
              }}
            />
          </Card>
        </>
      )}
    </DetailPage>
  );
};
