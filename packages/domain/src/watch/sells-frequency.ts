import { PLANS, type Plan } from '../account/plans.js';
import type { WatchFrequency } from './watch.js';

/** Whether a plan sells a frequency. Source: contract part 2 §3. */
export const sellsFrequency = (plan: Plan, frequency: WatchFrequency): boolean =>
  (PLANS[plan].frequencies as readonly WatchFrequency[]).includes(frequency);
