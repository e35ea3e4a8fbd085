import { useState } from 'react';
import type { MemberStateStatus, Status as StatusAnswer } from '../../api/shapes.js';
import { useRead } from '../../api/use-read.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { countryName } from '../../parts/country-name.js';
import { duration } from '../../parts/duration.js';
import { Reading } from '../../parts/reading.js';
import { MemberStateTable } from './member-state-table.js';
import { TILES } from './tiles.js';

const percent = (share: number | null): string =>
  share === null ? '–' : new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 }).format(share);

/** Beside the colour, for those who do not see it. */
const MARKS = { ok: '', degraded: '!', down: '✕', unknown: '' } as const;

const sentence = (state: MemberStateStatus): string =>
  state.asks === 0
    ? `${countryName(state.member_state)}: not asked lately`
    : `${countryName(state.member_state)}: ${state.health}, ${percent(state.answered)} answered, ${percent(state.saturated)} saturated, half within ${duration(state.p50_ms ?? 0)}, ${state.queue_depth} waiting`;

/** How VIES's member states answer at present, by what this service itself saw: a map to glance at, a table to read. */
export const MemberStates = () => {
  const status = useRead<StatusAnswer>('status', '/status', { every: 4_000 });
  const [isTable, setTable] = useState(false);
  const [pointed, setPointed] = useState<string | null>(null);
  return (
    <Card
      title="Member states"
      hint="What this service saw in the last quarter of an hour, for all of its accounts."
      actions={
        <Button small look="quiet" onPress={() => setTable(!isTable)}>
          {isTable ? 'Show as map' : 'Show as table'}
        </Button>
      }
    >
      <Reading of={status}>
        {({ member_states }) =>
          isTable ? (
            <MemberStateTable states={member_states} />
          ) : (
            <>
              <ul className="map">
                {member_states.map((state) => {
                  const [column, row] = TILES[state.member_state];
                  return (
                    <li
                      key={state.member_state}
                      className={`tile ${state.health} column-${column} row-${row}`}
                      title={sentence(state)}
                      onPointerEnter={() => setPointed(sentence(state))}
                      onPointerLeave={() => setPointed(null)}
                    >
                      <span className="for-reader">{sentence(state)}</span>
                      <span aria-hidden="true" className="tile-code">
                        {state.member_state}
                        <span className="tile-mark">{MARKS[state.health]}</span>
                      </span>
                      <span aria-hidden="true" className="tile-figure">
                        {state.p95_ms === null ? '' : duration(state.p95_ms)}
                      </span>
                    </li>
                  );
                })}
              </ul>
              <div className="map-legend">
                <ul className="legend">
                  {(['ok', 'degraded', 'down', 'unknown'] as const).map((health) => (
                    <li key={health} className={health}>
                      {health === 'unknown' ? 'not asked' : health}
                    </li>
                  ))}
                </ul>
                <p className="hint" aria-hidden="true">
                  {pointed ?? 'The figure is the 95th percentile of the answer times.'}
                </p>
              </div>
            </>
          )
        }
      </Reading>
    </Card>
  );
};
