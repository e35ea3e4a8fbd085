import type { CheckEntry } from '../../api/shapes.js';
import { duration } from '../../parts/duration.js';
import { Moment } from '../../parts/moment.js';
import { Status } from '../../parts/status.js';
import { SourceFacts } from './source-facts.js';
import { SOURCE_NAMES } from './source-names.js';

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
