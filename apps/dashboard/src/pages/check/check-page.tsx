import { useParams } from '@tanstack/react-router';
import type { CheckSource } from '@vat/domain';
import { isMissing } from '../../api/errors.js';
import type { Check, CheckEntry } from '../../api/shapes.js';
import { useRead } from '../../api/use-read.js';
import { countryName, duration } from '../../parts/format.js';
import { NotFound, Reading } from '../../parts/states.js';
import { Card, Facts, IdText, Moment, Page, Status } from '../../parts/text.js';
import { EvidenceCard } from './evidence-card.js';

const LETTERS = { A: 'agrees', B: 'differs', C: 'not asked', D: 'not given by the member state' } as const;
const PARTS = { name: 'Name', street: 'Street', postal_code: 'Postal code', city: 'City' } as const;

type Stated = NonNullable<CheckEntry['facts']>;

const compared = (matches: Stated['matches']) =>
  matches &&
  (Object.keys(PARTS) as (keyof typeof PARTS)[])
    .map((part) => `${PARTS[part]}: ${LETTERS[matches[part]]} (${matches[part]})`)
    .join(' · ');

/** What a register states, in its own words. */
export const SourceFacts = ({ facts }: { facts: Stated }) => (
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
      Comparison: compared(facts.matches),
    }}
  />
);

/** Who stands behind each source. */
export const SOURCE_NAMES: Record<CheckSource, string> = {
  syntax: 'Form of the number',
  vies: 'VIES',
  vies_confirmation: 'VIES, asked again to confirm',
  pl_white_list: 'Poland, White list of VAT payers',
  cz_ares: 'Czechia, ARES',
  ro_anaf: 'Romania, ANAF',
  fr_recherche_entreprises: 'France, Recherche d’entreprises',
  fi_prh: 'Finland, PRH',
  de_evatr: 'Germany, eVatR',
  gleif: 'GLEIF',
};

/** Below this share of the whole a bar could not be seen. */
const LEAST = 0.6;

/** The entries of a check over the time they took. */
export const Timeline = ({ entries }: { entries: readonly CheckEntry[] }) => {
  const starts = entries.map(({ started_at }) => Date.parse(started_at));
  const begin = Math.min(...starts);
  const end = Math.max(...entries.map(({ duration_ms }, n) => (starts[n] ?? begin) + duration_ms));
  const whole = Math.max(1, end - begin);
  return (
    <ol className="timeline">
      {entries.map((entry, n) => {
        const from = (100 * ((starts[n] ?? begin) - begin)) / whole;
        const width = Math.max(LEAST, (100 * entry.duration_ms) / whole);
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
              <rect x={Math.min(from, 100 - LEAST)} width={width} height="1" className={entry.outcome} />
            </svg>
            <p className="hint">
              <Moment at={entry.started_at} seconds /> · {duration(entry.duration_ms)}
              {entry.attempts !== undefined && ` · asked ${entry.attempts} ×`}
              {entry.backpressure && ' · waited longer than usual for a free place of its member state'}
            </p>
            {entry.contradicts && (
              <p>This source says the opposite of the verdict. The verdict is that of VIES and is not changed by it.</p>
            )}
            {entry.facts && <SourceFacts facts={entry.facts} />}
            {entry.detail && <p className="lines timeline-detail">{entry.detail}</p>}
          </li>
        );
      })}
    </ol>
  );
};

const NAMES = {
  name: 'Name',
  street: 'Street',
  postal_code: 'Postal code',
  city: 'City',
  company_type: 'Company type',
} as const;

/** What was sent about the trader, one part a line. */
export const TraderGiven = ({ trader }: { trader: NonNullable<Check['trader']> }) => (
  <span className="lines">
    {Object.entries(NAMES)
      .flatMap(([part, name]) => {
        const given = trader[part as keyof typeof NAMES];
        return given ? [`${name}: ${given}`] : [];
      })
      .join('\n')}
  </span>
);

/** VIES's word on each part of the trader that was sent. */
export const TraderMatch = ({ match }: { match: NonNullable<Check['trader_match']> }) => (
  <Card title="Trader match" hint="How VIES judged what was sent about the trader.">
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

/** Anchors are nobody's news: they come by the clock. */
const POLL_INTERVAL_MS = 4_000;

/** One check: the verdict, who said what and when, and the proof of it. */
export const CheckPage = () => {
  const { id } = useParams({ from: '/signed-in/checks/$id' });
  const check = useRead<Check>('checks', `/checks/${encodeURIComponent(id)}`, {
    every: (read) => {
      if (read === undefined || read.test) return false;
      if (read.anchor === null) return POLL_INTERVAL_MS;
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
