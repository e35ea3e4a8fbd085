import { useState } from 'react';
import type { Usage } from '../../api/shapes.js';
import { useRead } from '../../api/use-read.js';
import { Choice } from '../../parts/form.js';
import { count } from '../../parts/format.js';
import { Reading } from '../../parts/states.js';
import { Card, Facts, Page, Status } from '../../parts/text.js';
import { useSession } from '../../session/session.js';
import { chooseTheme, readTheme, type Theme } from '../../shell/theme.js';
import { ApiKeys } from './api-keys.js';
import { ChangePassword } from './change-password.js';
import { ReceiverSamples } from './receiver-samples.js';
import { WebhookCard } from './webhook-card.js';

/** Light, dark, or as the system. */
export const Appearance = () => {
  const [theme, setTheme] = useState<Theme>(readTheme);
  return (
    <Card title="Appearance">
      <div className="narrow">
        <Choice
          label="Colours"
          value={theme}
          options={[
            { value: 'system', label: 'As the system' },
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

/** Everything about the account that can be set, and what its plan sells. */
export const SettingsPage = () => (
  <Page title="Settings">
    <ApiKeys />
    <WebhookCard />
    <ReceiverSamples />
    <PlanCard />
    <ChangePassword />
    <Appearance />
    <p className="hint">
      The API itself is described at <a href="/docs">/docs</a>.
    </p>
  </Page>
);
