/** What a plan sells. Source: contract part 2 §3. */
export const PLANS = {
  free: { checksPerMonth: 100, watches: 0, frequencies: [] },
  starter: { checksPerMonth: 2_000, watches: 50, frequencies: ['weekly'] },
  business: { checksPerMonth: 20_000, watches: 1_000, frequencies: ['weekly', 'daily'] },
  enterprise: { checksPerMonth: 1_000_000, watches: 50_000, frequencies: ['weekly', 'daily'] },
} as const satisfies Record<string, { checksPerMonth: number; watches: number; frequencies: readonly string[] }>;

export type Plan = keyof typeof PLANS;

/** True when `name` is one of {@link PLANS}. */
export const isPlan = (name: string): name is Plan => Object.hasOwn(PLANS, name);

/** Checks a month an account may use: its own figure if it has one, else its plan's. */
export const monthlyQuota = (account: { plan: Plan; monthlyQuota: number | null }): number =>
  account.monthlyQuota ?? PLANS[account.plan].checksPerMonth;
