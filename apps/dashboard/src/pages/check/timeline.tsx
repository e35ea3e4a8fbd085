import type { CheckEntry } from '../../api/shapes.js';
import { counted, duration } from '../../parts/format.js';
import { DateTime, Facts, Status } from '../../parts/text.js';
import { PART_NAMES, SOURCE_NAMES } from './names.js';

const MATCH_TEXTS = {
  A: 'matches',
  B: 'does not match',
  C: 'not requested',
  D: 'not provided by the member state',
} as const;
type RegisterFacts = NonNullable<CheckEntry['facts']>;

const comparisonText = (matches: RegisterFacts['matches']) =>
  matches &&
  (Object.keys(matches) as (keyof typeof matches)[])
    .map((part) => `${PART_NAMES[part]}: ${MATCH_TEXTS[matches[part]]} (${matches[part]})`)
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

/** Minimum width of a bar in percent, so that it stays visible. */
const MIN_WIDTH = 0.6;

/** The entries of a check on a time axis. */
export const Timeline = ({ entries }: { entries: readonly CheckEntry[] }) => {
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
              <DateTime at={entry.started_at} exact /> · {duration(entry.duration_ms)}
              {entry.attempts !== undefined && ` · ${counted(entry.attempts, 'attempt', 'attempts')}`}
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
