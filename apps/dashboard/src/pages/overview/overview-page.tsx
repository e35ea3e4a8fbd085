import { Link } from '@tanstack/react-router';
import type { Check, Overview } from '../../api/shapes.js';
import type { Page as Listed } from '../../api/use-pages.js';
import { useRead } from '../../api/use-read.js';
import { Card } from '../../parts/card.js';
import { Page } from '../../parts/page.js';
import { Reading } from '../../parts/reading.js';
import { ChangeList } from '../watches/change-list.js';
import { FirstSteps } from '../welcome/first-steps.js';
import { ChecksChart } from './checks-chart.js';
import { Figures } from './figures.js';
import { MemberStates } from './member-states.js';
import { UsageMeter } from './usage-meter.js';

/** How the account is doing: this month's checks, the last thirty days, the member states, and what needs a look. */
export const OverviewPage = () => {
  const overview = useRead<Overview>('overview', '/overview', { every: 30_000 });
  const checks = useRead<Listed<Check>>('checks', '/checks', { query: { limit: 1 } });
  const isNew = checks.data?.data.length === 0;
  return (
    <Page
      title="Overview"
      actions={
        <Link to="/checks/new" className="button primary">
          New check
        </Link>
      }
    >
      {isNew && <FirstSteps />}
      <div className="columns">
        <UsageMeter />
        <Reading of={overview}>{(data) => <Figures overview={data} />}</Reading>
      </div>
      {overview.data && (
        <Card title="Checks a day" hint="The last thirty days, in UTC.">
          <ChecksChart days={overview.data.checks_per_day} />
        </Card>
      )}
      <MemberStates />
      {overview.data && (
        <Card
          title="Latest changes"
          actions={
            <Link to="/watches" className="button quiet small">
              View all
            </Link>
          }
        >
          <ChangeList changes={overview.data.changes} />
        </Card>
      )}
    </Page>
  );
};
