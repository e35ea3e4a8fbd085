import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import type { Acceptance, Check, CheckRequest } from '../../api/shapes.js';
import { useChange, useIdempotencyKey } from '../../api/use-change.js';
import { useRead } from '../../api/use-read.js';
import { duration } from '../../parts/format.js';
import { Reading } from '../../parts/states.js';
import { Facts, IdText, Moment, Page, Status } from '../../parts/text.js';
import { CheckForm, type NewCheck } from './check-form.js';

/** Why a request was given up, in words. */
export const ABANDONED_BECAUSE: Record<NonNullable<CheckRequest['reason']>, string> = {
  UPSTREAM_NO_ANSWER: 'The member state gave no answer in all this time. Nothing was charged; check again later.',
  ACCOUNT_DISABLED: 'The account was disabled meanwhile. Nothing was charged.',
  INVALID_REQUESTER: 'VIES does not accept the requester. Enter your own, valid number or none; nothing was charged.',
};

const POLL_MS = 2_000;

/** What became of a request, from pending to its one end; looks again by itself until then. */
export const RequestOutcome = ({ id }: { id: string }) => {
  const request = useRead<CheckRequest>('requests', `/requests/${encodeURIComponent(id)}`, {
    every: (data) => (data?.status === 'pending' ? POLL_MS : false),
  });
  return (
    <Reading of={request}>
      {({ status, check, vat_number, reason, attempts, last_error, next_attempt_at, give_up_at }) => (
        <section className={`card outcome ${check?.verdict ?? status}`} aria-label="Outcome">
          <p className="outcome-head">
            <strong>{vat_number}</strong> <Status word={check?.verdict ?? status} />
          </p>
          {check && (
            <>
              <Facts
                facts={{ Name: check.name, Address: check.address, 'Consultation number': check.consultation_number }}
              />
              <p>
                <Link to="/checks/$id" params={{ id: check.id }} className="button">
                  Open it
                </Link>
              </p>
            </>
          )}
          {status === 'pending' && (
            <>
              <p>
                The member state has not answered yet. It is asked again in the background, and the answer appears here
                and goes to your webhook. No quota is used until then.
              </p>
              <Facts
                facts={{
                  Asked: `${attempts} ×`,
                  'Last answer': last_error,
                  'Next try': next_attempt_at && <Moment at={next_attempt_at} seconds />,
                  'Given up at': give_up_at && <Moment at={give_up_at} seconds />,
                  Request: <IdText id={id} what="the request's id" />,
                }}
              />
            </>
          )}
          {status === 'abandoned' && (
            <>
              <p>{reason === null ? 'It was given up.' : ABANDONED_BECAUSE[reason]}</p>
              <Facts facts={{ Reason: reason, 'Last answer': last_error, Asked: `${attempts} ×` }} />
            </>
          )}
        </section>
      )}
    </Reading>
  );
};

const LONG_MS = 5_000;

/** The state of a call that waits for its answer: since when, and what happens if it takes longer. */
export const Waiting = ({ vatNumber }: { vatNumber: string }) => {
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
        <strong>Asking VIES about {vatNumber}</strong>
        <span aria-hidden="true" className="figures">
          {duration(Math.floor(waited / 100) * 100)}
        </span>
      </p>
      <p className="hint">
        {waited < LONG_MS
          ? 'Most member states answer within a second or two.'
          : 'The member state is slow or saturated and is asked again. Without an answer in time it goes on in the background; nothing is lost, and this page shows it.'}
      </p>
    </section>
  );
};

/** Ask about one number and see the answer come; one that takes long goes on in the background, here and elsewhere. */
export const NewCheckPage = () => {
  const { request, vat_number } = useSearch({ from: '/signed-in/checks/new' });
  const navigate = useNavigate({ from: '/checks/new' });
  const sameTry = useIdempotencyKey();
  const ask = useChange(['checks'], async (api, body: NewCheck) => {
    const answer = await sameTry([JSON.stringify(body)], (headers) =>
      api.call<Check | Acceptance>('POST', '/checks', { body, headers }),
    );
    return answer.request_id;
  });
  const submit = (body: NewCheck) => {
    void navigate({ search: {}, replace: true });
    ask.mutate(body, { onSuccess: (id) => void navigate({ search: { request: id }, replace: true }) });
  };
  return (
    <Page
      title="New check"
      lead={<p>One VAT number of the 27 member states or Northern Ireland, asked of VIES now.</p>}
    >
      <div className="columns">
        <CheckForm
          onTry={ask.reset}
          onSubmit={submit}
          isPending={ask.isPending}
          vatNumber={vat_number ?? ''}
          error={ask.error}
        />
        <div aria-live="polite">
          {ask.isPending && <Waiting vatNumber={ask.variables.vat_number} />}
          {request !== undefined && !ask.isPending && <RequestOutcome id={request} />}
        </div>
      </div>
    </Page>
  );
};
