import type { DeliveryDetail } from '../../api/shapes.js';
import { duration } from '../../parts/duration.js';
import { Empty } from '../../parts/empty.js';
import { Facts } from '../../parts/facts.js';
import { Moment } from '../../parts/moment.js';
import { TimingBar } from './timing-bar.js';

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
