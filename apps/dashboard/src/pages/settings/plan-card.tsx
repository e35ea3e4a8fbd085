import type { Usage } from '../../api/shapes.js';
import { useRead } from '../../api/use-read.js';
import { Card } from '../../parts/card.js';
import { count } from '../../parts/count.js';
import { Facts } from '../../parts/facts.js';
import { Reading } from '../../parts/reading.js';
import { Status } from '../../parts/status.js';
import { useSession } from '../../session/use-session.js';

/** What the plan sells and how much of it is used. */
export const PlanCard = () => {
  const { account } = useSession();
  const { plan, allowance } = account;
  const usage = useRead<Usage>('usage', '/usage', { every: 60_000 });
  return (
    <Card title="Plan" hint="The operator of the service changes plans.">
      <Reading of={usage}>
        {({ limit, used }) => (
          <Facts
            facts={{
              Account: account.name,
              Plan: <Status word={plan} />,
              'Checks a month': `${count(limit)}, of which ${count(used)} are used`,
              Watches:
                allowance.watches === 0
                  ? 'none'
                  : `up to ${count(allowance.watches)}, ${allowance.frequencies.join(' or ')}`,
              'Pending requests': 'up to 200',
              'Batches at once': 'up to 5, of up to 10,000 rows and 2 MiB each',
              'Calls a second': '10 for each key',
            }}
          />
        )}
      </Reading>
    </Card>
  );
};
