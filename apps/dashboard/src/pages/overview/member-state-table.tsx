import type { MemberStateStatus } from '../../api/shapes.js';
import { count } from '../../parts/count.js';
import { countryName } from '../../parts/country-name.js';
import { type Column, DataTable } from '../../parts/data-table.js';
import { duration } from '../../parts/duration.js';
import { Status } from '../../parts/status.js';
import { ShareBar } from './share-bar.js';

const time = (ms: number | null): string | null => (ms === null ? null : duration(ms));

const COLUMNS: readonly Column<MemberStateStatus>[] = [
  { head: 'Member state', cell: ({ member_state }) => `${member_state} ${countryName(member_state)}` },
  { head: 'Health', cell: ({ health }) => <Status word={health} /> },
  { head: 'Answered', cell: (state) => <ShareBar state={state} /> },
  { head: 'Half within', figures: true, cell: ({ p50_ms }) => time(p50_ms) },
  { head: '95 % within', figures: true, cell: ({ p95_ms }) => time(p95_ms) },
  { head: 'Asks', figures: true, cell: ({ asks }) => count(asks) },
  { head: 'Waiting', figures: true, cell: ({ queue_depth }) => count(queue_depth) },
  { head: 'Oldest wait', figures: true, cell: ({ oldest_wait_ms }) => time(oldest_wait_ms) },
];

/** The figures behind the map; those that were asked lately come first. */
export const MemberStateTable = ({ states }: { states: readonly MemberStateStatus[] }) => (
  <DataTable
    label="Member states"
    columns={COLUMNS}
    rows={states.toSorted((one, other) => other.asks - one.asks)}
    rowKey={({ member_state }) => member_state}
  />
);
