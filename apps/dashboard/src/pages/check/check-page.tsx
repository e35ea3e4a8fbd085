import { useParams } from '@tanstack/react-router';
import { isMissing } from '../../api/is-missing.js';
import type { Check } from '../../api/shapes.js';
import { useRead } from '../../api/use-read.js';
import { Card } from '../../parts/card.js';
import { countryName } from '../../parts/country-name.js';
import { Facts } from '../../parts/facts.js';
import { IdText } from '../../parts/id-text.js';
import { Moment } from '../../parts/moment.js';
import { NotFound } from '../../parts/not-found.js';
import { Page } from '../../parts/page.js';
import { Reading } from '../../parts/reading.js';
import { Status } from '../../parts/status.js';
import { EvidenceCard } from './evidence-card.js';
import { Timeline } from './timeline.js';
import { TraderGiven, TraderMatch } from './trader-match.js';

/** Anchors are nobody's news: they come by the clock. */
const LOOK_EVERY_MS = 4_000;

/** One check: the verdict, who said what and when, and the proof of it. */
export const CheckPage = () => {
  const { id } = useParams({ from: '/signed-in/checks/$id' });
  const check = useRead<Check>('checks', `/checks/${encodeURIComponent(id)}`, {
    every: (read) => {
      if (read === undefined || read.test) return false;
      if (read.anchor === null) return LOOK_EVERY_MS;
      return read.timestamp === null ? undefined : false;
    },
  });
  if (isMissing(check.error)) return <NotFound what="Check" list="/checks" />;
  return (
    <Page
      title={check.data?.vat_number ?? 'Check'}
      lead={
        check.data && (
          <p className="lead-line">
            <Status word={check.data.verdict} /> {check.data.test && <Status word="test" />}
            <Moment at={check.data.checked_at} seconds />
          </p>
        )
      }
    >
      <Reading of={check}>
        {(data) => (
          <>
            <Card title="Answer">
              <Facts
                facts={{
                  Name: data.name,
                  Address: data.address && <span className="lines">{data.address}</span>,
                  'Member state': `${data.country_code} · ${countryName(data.country_code)}`,
                  'As it was sent': data.input === data.vat_number ? null : <span className="lines">{data.input}</span>,
                  Requester: data.requester_vat_number,
                  'Consultation number': data.consultation_number,
                  Trader: data.trader && <TraderGiven trader={data.trader} />,
                  Reference: data.reference,
                  Check: <IdText id={data.id} what="the check's id" />,
                  Request: <IdText id={data.request_id} what="the request's id" />,
                }}
              />
              {data.name === null && data.verdict === 'valid' && (
                <p className="hint">This member state does not disclose names and addresses.</p>
              )}
            </Card>
            {data.trader_match && <TraderMatch match={data.trader_match} />}
            <Card title="Timeline" hint="What each source was asked and said, in the order it happened.">
              <Timeline entries={data.checks} />
            </Card>
            <EvidenceCard check={data} />
          </>
        )}
      </Reading>
    </Page>
  );
};
