import { periodEnd } from '@vat/domain';

/** GET /v1/usage. Source: contract part 2 §3. */
export const presentUsage = (usage: {
  period: string;
  plan: string;
  limit: number;
  used: number;
  reserved: number;
}) => ({
  period: usage.period,
  plan: usage.plan,
  limit: usage.limit,
  used: usage.used,
  reserved: usage.reserved,
  reset_at: periodEnd(usage.period).toISOString(),
});
