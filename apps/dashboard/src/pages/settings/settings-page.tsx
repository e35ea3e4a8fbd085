import { Page } from '../../parts/page.js';
import { ApiKeys } from './api-keys.js';
import { Appearance } from './appearance.js';
import { ChangePassword } from './change-password.js';
import { PlanCard } from './plan-card.js';
import { ReceiverSamples } from './receiver-samples.js';
import { WebhookCard } from './webhook-card.js';

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
