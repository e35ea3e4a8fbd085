import { Link } from '@tanstack/react-router';
import { useId } from 'react';
import { Label } from 'react-aria-components/Label';
import { Meter } from 'react-aria-components/Meter';
import type { Overview, Usage } from '../../api/shapes.js';
import { useApiQuery } from '../../api/use-api-query.js';
import { count } from '../../parts/format.js';
import { NewCheck } from '../../parts/no-checks-yet.js';
import { QueryView } from '../../parts/states.js';
import { Card, Page } from '../../parts/text.js';
import { Changing } from '../../session/session.js';
import { ChangeList } from '../watches/change-list.js';
import { FirstSteps, useNewestCheck } from '../welcome/welcome-page.js';
import { ChecksChart } from './checks-chart.js';
import { MemberStates } from './member-states.js';

type FigureProps = {
  value: number;
  one: string;
  many: string;
  to: '/checks' | '/batches' | '/deliveries';
  search?: { status?: 'failed'; from?: string };
  isBad?: boolean;
};

const Figure = ({ value, one, many, to, search = {}, isBad = false }: FigureProps) => {
  const id = useId();
  return (
    <li className={isBad ? 'bad' : undefined}>
      <span id={id}>
        <strong>{count(value)}</strong> {value === 1 ? one : many}
      </span>
      {value > 0 && (
        <Link to={to} search={search} aria-describedby={id}>
          View
        </Link>
      )}
    </li>
  );
};

/** The time seven days before, to the minute. */
const weekBefore = (ms: number): string => `${new Date(ms - 7 * 86_400_000).toISOString().slice(0, 16)}:00Z`;

/** Work in progress and recent failures, with links to the lists. `at`: the time of the figures. */
const Figures = ({ overview, at }: { overview: Overview; at: number }) => (
  <Card title="Activity">
    <ul className="figures-row">
      <Figure value={overview.pending_requests} one="pending request" many="pending requests" to="/checks" />
      <Figure value={overview.active_batches} one="active batch" many="active batches" to="/batches" />
      <Figure
        value={overview.failed_deliveries}
        one="failed delivery in the last 7 days"
        many="failed deliveries in the last 7 days"
        to="/deliveries"
        search={{ status: 'failed', from: weekBefore(at) }}
        isBad={overview.failed_deliveries > 0}
      />
    </ul>
  </Card>
);

const dayOf = (at: string): string =>
  new Intl.DateTimeFormat(undefined, { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(at));

const UsageMeter = () => {
  const usage = useApiQuery<Usage>('usage', '/usage', { every: 30_000 });
  return (
    <Card title="This month">
      <QueryView query={usage}>
        {({ used, reserved, limit, plan, reset_at }) => {
          const share = limit === 0 ? 1 : (used + reserved) / limit;
          const width = (checks: number) => (limit === 0 ? 0 : (100 * checks) / limit);
          return (
            <>
              <Meter
                className={`usage ${share >= 1 ? 'bad' : share >= 0.8 ? 'warn' : ''}`}
                value={Math.min(limit, used)}
                maxValue={Math.max(1, limit)}
                valueLabel={`${count(used)} of ${count(limit)}`}
              >
                <p className="usage-figure">
                  <strong>{count(used)}</strong> <Label>of {count(limit)} checks used</Label>
                </p>
                <svg viewBox="0 0 100 1" preserveAspectRatio="none" className="progress-bar" aria-hidden="true">
                  <rect width={width(used)} height="1" />
                  <rect className="reserved" x={width(used)} width={width(reserved)} height="1" />
                </svg>
              </Meter>
              <p className="hint">
                {reserved > 0 && `${count(reserved)} more reserved for pending checks, including batches and watches. `}
                Plan <strong>{plan}</strong>. Resets on {dayOf(reset_at)}.
              </p>
            </>
          );
        }}
      </QueryView>
    </Card>
  );
};

/** Overview of the account: usage, checks per day, health of member states, latest changes. */
export const OverviewPage = () => {
  const overview = useApiQuery<Overview>('overview', '/overview', { every: 30_000 });
  const isNew = useNewestCheck().data?.data.length === 0;
  return (
    <Page title="Overview" actions={<NewCheck>New check</NewCheck>}>
      <Changing>{isNew && <FirstSteps />}</Changing>
      <div className="columns">
        <UsageMeter />
        <QueryView query={overview}>{(data) => <Figures overview={data} at={overview.dataUpdatedAt} />}</QueryView>
      </div>
      {overview.data && (
        <Card title="Checks per day" hint="The last 30 days, in UTC.">
          <ChecksChart days={overview.data.checks_per_day} />
        </Card>
      )}
      <MemberStates />
      {overview.data && (
        <Card
          title="Latest changes"
          actions={
            <Link to="/watches" className="button quiet small">
              View watched numbers
            </Link>
          }
        >
          <ChangeList changes={overview.data.changes} />
        </Card>
      )}
    </Page>
  );
};
