import { useParams } from '@tanstack/react-router';
import type { Check } from '../../api/shapes.js';
import { useApiQuery } from '../../api/use-api-query.js';
import { DetailPage } from '../../parts/detail-page.js';
import { countryName } from '../../parts/format.js';
import { Card, DateTime, Facts, IdText, Status } from '../../parts/text.js';
import { EvidenceCard } from './evidence-card.js';
import { EvidenceGrade } from './evidence-grade.js';
import { Timeline } from './timeline.js';
import { TraderCard, TraderGiven } from './trader-card.js';

/** Anchors cause no page updates, so they are polled. */
const POLL_INTERVAL_MS = 4_000;

/** One check: the verdict, the timeline of its sources, and its evidence. */
export const CheckPage = () => {
  const { id } = useParams({ from: '/signed-in/checks/$id' });
  const check = useApiQuery<Check>('checks', `/checks/${encodeURIComponent(id)}`, {
    every: (current) => {
      if (current === undefined || current.test) return false;
      if (current.anchor === null) return POLL_INTERVAL_MS;
      return current.timestamp === null ? undefined : false;
    },
  });
  return (
    <DetailPage
      what="Check"
      list="/checks"
      query={check}
      head={({ vat_number: title, verdict: status, test, checked_at }) => ({
        title,
        status,
        lead: (
          <>
            {test && <Status word="test" />}
            <DateTime at={checked_at} exact />
          </>
        ),
      })}
    >
      {(data) => (
        <>
          <Card
            title="Result"
            hint={
              data.test &&
              'The sandbox of the service answered this test check. No authority was queried; it proves nothing about the number.'
            }
          >
            <Facts
              facts={{
                'Evidence grade': data.evidence_grade && <EvidenceGrade check={data} grade={data.evidence_grade} />,
                Name: data.name,
                Address: data.address && <span className="lines">{data.address}</span>,
                'Member state': `${data.country_code} · ${countryName(data.country_code)}`,
                Input: data.input === data.vat_number ? null : <span className="lines">{data.input}</span>,
                Requester: data.requester_vat_number,
                'Consultation number': data.consultation_number,
                Trader: data.trader && <TraderGiven trader={data.trader} />,
                Reference: data.reference,
                'Check ID': <IdText id={data.id} what="the check ID" />,
                'Request ID': <IdText id={data.request_id} what="the request ID" />,
              }}
            />
            {data.name === null && data.verdict === 'valid' && !data.test && (
              <p className="hint">VIES states no name for this number. Some member states never disclose one.</p>
            )}
          </Card>
          <TraderCard check={data} />
          <Card title="Timeline" hint="The sources of this check, in the order they were queried.">
            <Timeline entries={data.checks} />
          </Card>
          <EvidenceCard check={data} />
        </>
      )}
    </DetailPage>
  );
};
