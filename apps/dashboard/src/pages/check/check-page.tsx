import { useParams } from '@tanstack/react-router';
import type { CheckSource } from '@vat/domain';
import type { Check, CheckEntry } from '../../api/shapes.js';
import { useApiQuery } from '../../api/use-api-query.js';
import { DetailPage } from '../../parts/detail-page.js';
import { countryName, duration } from '../../parts/format.js';
import { Card, DateTime, Facts, IdText, Status } from '../../parts/text.js';
import { EvidenceCard } from './evidence-card.js';

const MATCH_TEXTS = {
  A: 'matches',
  B: 'does not match',
  C: 'not requested',
  D: 'not provided by the member state',
} as const;
const NAMES = {
  name: 'Name',
  street: 'Street',
  postal_code: 'Postal code',
  city: 'City',
  company_type: 'Company type',
} as const;

type RegisterFacts = NonNullable<CheckEntry['facts']>;

const comparisonText = (matches: RegisterFacts['matches']) =>
  matches &&
  (Object.keys(matches) as (keyof typeof matches)[])
    .map((part) => `${NAMES[part]}: ${MATCH_TEXTS[matches[part]]} (${matches[part]})`)
    .join(' · ');

const SourceFacts = ({ facts }: { facts: RegisterFacts }) => (
  <Facts
    facts={{
      Name: facts.name,
      Address: facts.address,
      'Legal form': facts.legal_form,
      Status: facts.status,
      'Registered since': facts.registered_since,
      'Registered until': facts.registered_until,
      'Register number': facts.register_id,
      'VAT numbers': facts.vat_numbers && (facts.vat_numbers.join(', ') || 'none'),
      Receipt: facts.receipt && <code>{facts.receipt}</code>,
      Comparison: comparisonText(facts.matches),
    }}
  />
);

const SOURCE_NAMES: Record<CheckSource, string> = {
  syntax: 'Number format',
  vies: 'VIES',
  vies_confirmation: 'VIES, confirmation',
  pl_white_list: 'Poland, White list of VAT payers',
  cz_ares: 'Czechia, ARES',
  ro_anaf: 'Romania, ANAF',
  fr_recherche_entreprises: 'France, Recherche d’entreprises',
  fi_prh: 'Finland, PRH',
  de_evatr: 'Germany, eVatR',
  gleif: 'GLEIF',
};

/** Minimum width of a bar in percent, so that it stays visible. */
const MIN_WIDTH = 0.6;

/** The entries of a check on a time axis. */
const Timeline = ({ entries }: { entries: readonly CheckEntry[] }) => {
  const starts = entries.map(({ started_at }) => Date.parse(started_at));
  const begin = Math.min(...starts);
  const end = Math.max(...entries.map(({ duration_ms }, n) => (starts[n] ?? begin) + duration_ms));
  const whole = Math.max(1, end - begin);
  return (
    <ol className="timeline">
      {entries.map((entry, n) => {
        const from = (100 * ((starts[n] ?? begin) - begin)) / whole;
        const width = Math.max(MIN_WIDTH, (100 * entry.duration_ms) / whole);
        return (
          <li key={`${entry.source} ${entry.started_at}`}>
            <div className="timeline-head">
              <span className="timeline-source">
                <strong>{SOURCE_NAMES[entry.source]}</strong> <code>{entry.source}</code>
              </span>
              <span className="timeline-outcome">
                <Status word={entry.outcome} />
                {entry.code && <code>{entry.code}</code>}
                {entry.backpressure && <Status word="backpressure" />}
                {entry.contradicts && <Status word="contradicts" />}
              </span>
            </div>
            <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true" className="timeline-bar">
              <rect x={Math.min(from, 100 - MIN_WIDTH)} width={width} height="1" className={entry.outcome} />
            </svg>
            <p className="hint">
              <DateTime at={entry.started_at} seconds /> · {duration(entry.duration_ms)}
              {entry.attempts !== undefined && ` · ${entry.attempts} ${entry.attempts === 1 ? 'attempt' : 'attempts'}`}
              {entry.backpressure && ' · waited longer than usual because the member state was busy'}
            </p>
            {entry.contradicts && (
              <p>This source contradicts the verdict. The verdict comes from VIES and does not change.</p>
            )}
            {entry.facts && <SourceFacts facts={entry.facts} />}
            {entry.detail && <p className="lines timeline-detail">{entry.detail}</p>}
          </li>
        );
      })}
    </ol>
  );
};

const TraderGiven = ({ trader }: { trader: NonNullable<Check['trader']> }) => (
  <span className="lines">
    {Object.entries(NAMES)
      .flatMap(([part, name]) => {
        const value = trader[part as keyof typeof NAMES];
        return value ? [`${name}: ${value}`] : [];
      })
      .join('\n')}
  </span>
);

const TraderMatch = ({ match }: { match: NonNullable<Check['trader_match']> }) => (
  <Card title="Trader match" hint="VIES compared the trader details you sent with the records of the member state.">
    <Facts
      facts={Object.fromEntries(
        Object.entries(NAMES).map(([part, name]) => {
          const word = match[part as keyof typeof NAMES];
          return [name, word && <Status word={word} />];
        }),
      )}
    />
  </Card>
);

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
      title={(data) => data.vat_number}
      lead={(data) => (
        <>
          <Status word={data.verdict} /> {data.test && <Status word="test" />}
          <DateTime at={data.checked_at} seconds />
        </>
      )}
    >
      {(data) => (
        <>
          <Card title="Result">
            <Facts
              facts={{
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
            {data.name === null && data.verdict === 'valid' && (
              <p className="hint">This member state does not disclose names and addresses.</p>
            )}
          </Card>
          {data.trader_match && <TraderMatch match={data.trader_match} />}
          <Card title="Timeline" hint="The sources of this check, in the order they were queried.">
            <Timeline entries={data.checks} />
          </Card>
          <EvidenceCard check={data} />
        </>
      )}
    </DetailPage>
  );
};
