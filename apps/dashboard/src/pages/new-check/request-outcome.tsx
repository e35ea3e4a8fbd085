import { Link } from '@tanstack/react-router';
import type { CheckRequest } from '../../api/shapes.js';
import { useRead } from '../../api/use-read.js';
import { Facts } from '../../parts/facts.js';
import { IdText } from '../../parts/id-text.js';
import { Moment } from '../../parts/moment.js';
import { Reading } from '../../parts/reading.js';
import { Status } from '../../parts/status.js';
import { ABANDONED_BECAUSE } from './abandoned-because.js';

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
