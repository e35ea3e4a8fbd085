import { useState } from 'react';
import type { Usage } from '../../api/shapes.js';
import { useApiQuery } from '../../api/use-api-query.js';
import { Select } from '../../parts/form.js';
import { count } from '../../parts/format.js';
import { QueryView } from '../../parts/states.js';
import { Card, Facts, Page, Status } from '../../parts/text.js';
import { useBoot, useSession } from '../../session/session.js';
import { chooseTheme, readTheme, type Theme } from '../../shell/theme.js';
import { ApiKeys, useAccountKeys } from './api-keys.js';
import { ChangePassword } from './change-password.js';
import { Members } from './members.js';
import { Notifications } from './notifications.js';
import { ReceiverSamples } from './receiver-samples.js';
import { WebhookCard } from './webhook-card.js';

const Appearance = () => {
  const [theme, setTheme] = useState<Theme>(readTheme);
  return (
    <Card title="Appearance">
      <div className="narrow">
        <Select
          label="Theme"
          value={theme}
          options={[
            { value: 'system', label: 'System default' },
            { value: 'light', label: 'Light' },
            { value: 'dark', label: 'Dark' },
          ]}
          onChange={(chosen) => {
            chooseTheme(chosen);
            setTheme(chosen);
          }}
        />
      </div>
    </Card>
  );
};

const PlanCard = () => {
  const { account } = useSession();
  const { plan, allowance } = account;
  const boot = useBoot().data;
  const usage = useApiQuery<Usage>('usage', '/usage', { every: 60_000 });
  return (
    <Card title="Plan" hint="To change your plan, contact the operator of the service.">
      <QueryView query={usage}>
        {({ limit, used }) => (
          <Facts
            facts={{
              Account: account.name,
              Plan: <Status word={plan} />,
              'Checks this month': `${count(used)} of ${count(limit)} used`,
              Watches:
                allowance.watches === 0
                  ? 'none'
                  : `up to ${count(allowance.watches)}, ${allowance.frequencies.join(' or ')}`,
              'Pending requests': 'up to 200',
              'Concurrent batches': 'up to 5, each with up to 10,000 rows and 2 MiB',
              'Requests per second': boot && `${count(boot.key_rate_limit)} per key`,
            }}
          />
        )}
      </QueryView>
    </Card>
  );
};

/** Settings of the account, and its plan. */
export const SettingsPage = () => {
  const accountKeys = useAccountKeys();
  return (
    <Page title="Settings">
      <ApiKeys {...accountKeys} />
      {/* They would move down when the keys load, and a press on Save at that moment would do nothing. */}
      {!accountKeys.keys.isPending && (
        <>
          <WebhookCard />
          <ReceiverSamples />
          <Members />
          <Notifications />
          <PlanCard />
          <ChangePassword />
          <Appearance />
        </>
      )}
      <p className="hint">
        For the API reference, see <a href="/docs">/docs</a>.
      </p>
    </Page>
  );
};
