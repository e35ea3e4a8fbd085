import { MAP_POSITIONS } from '@vat/domain/member-states';
import { useState } from 'react';
import type { MemberStateStatus, Status as StatusAnswer } from '../../api/shapes.js';
import { useApiQuery } from '../../api/use-api-query.js';
import { Button } from '../../parts/button.js';
import { type Column, DataTable } from '../../parts/data-table.js';
import { count, countryName, duration } from '../../parts/format.js';
import { QueryView } from '../../parts/states.js';
import { Card, Status } from '../../parts/text.js';

const percent = (share: number | null): string =>
  share === null ? '–' : new Intl.NumberFormat(undefined, { style: 'percent', maximumFractionDigits: 0 }).format(share);

/** Answered, saturated and unavailable lookups as parts of one bar. */
const ShareBar = ({ state: { answered, saturated, unavailable } }: { state: MemberStateStatus }) => {
  if (answered === null || saturated === null || unavailable === null) return <>–</>;
  const text = `${percent(answered)} answered, ${percent(saturated)} saturated, ${percent(unavailable)} unavailable`;
  return (
    <span className="share" title={text}>
      <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
        <rect className="ok" width={answered * 100} height="1" />
        <rect className="degraded" x={answered * 100} width={saturated * 100} height="1" />
        <rect className="down" x={(answered + saturated) * 100} width={unavailable * 100} height="1" />
      </svg>
      <span>{percent(answered)}</span>
      <span className="visually-hidden">{text}</span>
    </span>
  );
};

const time = (ms: number | null): string | null => (ms === null ? null : duration(ms));

const COLUMNS: readonly Column<MemberStateStatus>[] = [
  { head: 'Member state', cell: ({ member_state }) => `${member_state} ${countryName(member_state)}` },
  { head: 'Health', cell: ({ health }) => <Status word={health} /> },
  { head: 'Answered', cell: (state) => <ShareBar state={state} /> },
  { head: 'Median', figures: true, cell: ({ p50_ms }) => time(p50_ms) },
  { head: '95th percentile', figures: true, cell: ({ p95_ms }) => time(p95_ms) },
  { head: 'Lookups', figures: true, cell: ({ asks }) => count(asks) },
  { head: 'Waiting', figures: true, cell: ({ queue_depth }) => count(queue_depth) },
  { head: 'Longest wait', figures: true, cell: ({ oldest_wait_ms }) => time(oldest_wait_ms) },
];

/** The figures behind the map, most lookups first. */
const MemberStateTable = ({ states }: { states: readonly MemberStateStatus[] }) => (
  <DataTable
    label="Member states"
    columns={COLUMNS}
    rows={states.toSorted((one, other) => other.asks - one.asks)}
    rowKey={({ member_state }) => member_state}
  />
);

/** Marks that repeat the colour for colour-blind users. */
const MARKS = { ok: '', degraded: '!', down: '✕', unknown: '' } as const;

const describe = (state: MemberStateStatus): string =>
  state.asks === 0
    ? `${countryName(state.member_state)}: no recent lookups`
    : `${countryName(state.member_state)}: ${state.health}, ${percent(state.answered)} answered, ${percent(state.saturated)} saturated, median ${duration(state.p50_ms ?? 0)}, ${state.queue_depth} waiting`;

/** Health of the member states as measured by this service, as a map or a table. */
export const MemberStates = () => {
  const status = useApiQuery<StatusAnswer>('status', '/status', { every: 4_000 });
  const [isTable, setTable] = useState(false);
  const [hovered, setHovered] = useState<string | null>(null);
  return (
    <Card
      title="Member states"
      hint="Lookups by this service in the last 15 minutes, for all accounts."
      actions={
        <Button small variant="quiet" onPress={() => setTable(!isTable)}>
          {isTable ? 'Show as map' : 'Show as table'}
        </Button>
      }
    >
      <QueryView query={status}>
        {({ member_states }) =>
          isTable ? (
            <MemberStateTable states={member_states} />
          ) : (
            <>
              <ul className="map">
                {member_states.map((state) => {
                  const [gridColumn, gridRow] = MAP_POSITIONS[state.member_state];
                  return (
                    <li
                      key={state.member_state}
                      className={`tile ${state.health}`}
                      style={{ gridColumn, gridRow }}
                      title={describe(state)}
                      onPointerEnter={() => setHovered(describe(state))}
                      onPointerLeave={() => setHovered(null)}
                    >
                      <span className="visually-hidden">{describe(state)}</span>
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
                      {health === 'unknown' ? 'no recent lookups' : health}
                    </li>
                  ))}
                </ul>
                <p className="hint" aria-hidden="true">
                  {hovered ?? 'Each tile shows the 95th percentile of the response times.'}
                </p>
              </div>
            </>
          )
        }
      </QueryView>
    </Card>
  );
};
