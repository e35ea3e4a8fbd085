import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Acceptance, Check, CheckRequest } from '../../api/shapes.js';
import { useApiMutation, useIdempotencyKey } from '../../api/use-api-mutation.js';
import { useApiQuery } from '../../api/use-api-query.js';
import { count, duration } from '../../parts/format.js';
import { QueryView } from '../../parts/states.js';
import { DateTime, Facts, IdText, NextAttempt, Page, Status } from '../../parts/text.js';
import { useMay } from '../../session/session.js';
import { abandonedBecause } from './abandoned-because.js';
import { CheckForm, type NewCheck } from './check-form.js';

/** What the entry of the number's format says, such as the form of its country. */
const FormatProblem = ({ check: { checks } }: { check: Check }) =>
  checks.flatMap(({ source, detail }) => (source === 'syntax' && detail ? [<p key={source}>{detail}</p>] : []));

const POLL_MS = 2_000;

/** The state of a request. Polls while the request is pending. */
const RequestOutcome = ({ id }: { id: string }) => {
  const request = useApiQuery<CheckRequest>('requests', `/requests/${encodeURIComponent(id)}`, {
    every: (data) => (data?.status === 'pending' ? POLL_MS : false),
  });
  return (
    <QueryView query={request}>
      {({ status, check, vat_number, reason, attempts, last_error, next_attempt_at, give_up_at }) => (
        <section className={`card outcome ${check?.verdict ?? status}`} aria-label="Outcome">
          <p className="outcome-head">
            <strong>{vat_number}</strong> <Status word={check?.verdict ?? status} />
          </p>
          {check && (
            <>
              {!check.valid && <FormatProblem check={check} />}
              <Facts
                facts={{
                  Name: check.name,
                  Address: check.address,
                  'Trader match':
                    check.match && (check.match.score === null ? 'not compared' : `${check.match.score} of 100`),
                  'Evidence grade': check.evidence_grade && <Status word={check.evidence_grade} />,
                  'Consultation number': check.consultation_number,
                }}
              />
              <p>
                <Link to="/checks/$id" params={{ id: check.id }} className="button">
                  View check
                </Link>
              </p>
            </>
          )}
          {status === 'pending' && (
            <>
              <p>
                {attempts === 0 ? 'The number has not been looked up yet.' : 'The member state has not answered yet.'}{' '}
                The service goes on in the background. The result appears here and is sent to your webhook, if you have
                one. The check counts towards your quota when it completes.
              </p>
              <Facts
                facts={{
                  Attempts: count(attempts),
                  'Last error': last_error,
                  'Next attempt': next_attempt_at && <NextAttempt at={next_attempt_at} />,
                  'Retries until': give_up_at && <DateTime at={give_up_at} exact />,
                  'Request ID': <IdText id={id} what="the request ID" />,
                }}
              />
            </>
          )}
          {status === 'abandoned' && (
            <>
              <p>{abandonedBecause(reason)}</p>
              <Facts facts={{ Reason: reason, 'Last error': last_error, Attempts: count(attempts) }} />
            </>
          )}
        </section>
      )}
    </QueryView>
  );
};

const SLOW_AFTER_MS = 5_000;

/** Shown while a direct check waits for the upstream: the elapsed time and what happens next. */
const Waiting = ({ vatNumber }: { vatNumber: string }) => {
  const [since] = useState(() => performance.now());
  const [now, setNow] = useState(since);
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 100);
    return () => clearInterval(timer);
  }, []);
  const waited = now - since;
  return (
    <section className="card outcome waiting" aria-label="Waiting">
      <p className="outcome-head">
        <span className="spinner" aria-hidden="true" />
        <strong>Checking {vatNumber} with VIES</strong>
        <span aria-hidden="true" className="figures">
          {duration(Math.floor(waited / 100) * 100)}
        </span>
      </p>
      <p className="hint">
        {waited < SLOW_AFTER_MS
          ? 'Most member states answer within two seconds.'
          : 'The member state is slow or saturated, and the service retries. If there is no answer in time, the check continues in the background and this page shows the result.'}
      </p>
    </section>
  );
};

/** Checks one VAT number and shows its result, now or when a pending request completes. */
export const NewCheckPage = () => {
  const { request, vat_number } = useSearch({ from: '/signed-in/checks/new' });
  const navigate = useNavigate({ from: '/checks/new' });
  const mayCheck = useMay('change');
  const sendOnce = useIdempotencyKey();
  const requestCheck = useApiMutation(['checks'], async (api, body: NewCheck) => {
    const answer = await sendOnce([JSON.stringify(body)], (headers) =>
      api.call<Check | Acceptance>('POST', '/checks', { body, headers }),
    );
    return answer.request_id;
  });
  const submit = (body: NewCheck) => {
    void navigate({ search: {}, replace: true });
    requestCheck.mutate(body, { onSuccess: (id) => void navigate({ search: { request: id }, replace: true }) });
  };
  return (
    <Page title="New check" lead={<p>Check a VAT number of an EU member state or Northern Ireland with VIES.</p>}>
      <div className="columns">
        {mayCheck ? (
          <CheckForm
            onBeforeSubmit={requestCheck.reset}
            onSubmit={submit}
            isPending={requestCheck.isPending}
            vatNumber={vat_number ?? ''}
            error={requestCheck.error}
          />
        ) : (
          <p>As an auditor you can read all checks, but not make one.</p>
        )}
        <div aria-live="polite">
          {requestCheck.isPending && <Waiting vatNumber={requestCheck.variables.vat_number} />}
          {request !== undefined && !requestCheck.isPending && <RequestOutcome id={request} />}
        </div>
      </div>
    </Page>
  );
};
