import { TEST_POLICY, type UpstreamPolicy } from '@vat/domain';
import type { SettingsOf } from '@vat/runtime';

type PolicySettings = SettingsOf<
  'api',
  | ('UPSTREAM_WINDOW' | 'UPSTREAM_RETRY_DELAYS' | 'BACKPRESSURE_AFTER')
  | ('BACKGROUND_RETRY_DELAYS' | 'BACKGROUND_GIVE_UP_AFTER')
>;

/** The retry policy of a request: that of the settings for live keys, a fixed one for test keys. */
export const retryPolicies = (settings: PolicySettings): ((test: boolean) => UpstreamPolicy) => {
  const live = {
    windowMs: settings.UPSTREAM_WINDOW,
    windowRetryDelaysMs: settings.UPSTREAM_RETRY_DELAYS,
    backgroundRetryDelaysMs: settings.BACKGROUND_RETRY_DELAYS,
    giveUpAfterMs: settings.BACKGROUND_GIVE_UP_AFTER,
    backpressureAfterMs: settings.BACKPRESSURE_AFTER,
  };
  return (test) => (test ? TEST_POLICY : live);
};
