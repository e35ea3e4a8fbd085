import { presentStatus, presentUsage } from '@vat/contracts';
import { type MinuteTally, memberStateHealth, periodOf, type QueueDepth, STATUS_WINDOW_MS } from '@vat/domain';
import type { ResponseTo, Routes } from './route.js';

export type UsageRoutesDeps = {
  findUsage: (accountId: string, period: string) => Promise<{ used: number; reserved: number }>;
  readMinutes: (from: Date) => Promise<MinuteTally[]>;
  queueDepths: (now: Date) => Promise<QueueDepth[]>;
  now: () => Date;
};

const NOTHING = { used: 0, reserved: 0 };

/** The status is read from the database at most once in this time, however often it is polled. */
const STATUS_CACHE_MS = 2_000;

type StatusBody = ResponseTo<'getStatus'>['body'];

/** The routes of /v1/usage and /v1/status. */
export const usageRoutes = (deps: UsageRoutesDeps): Pick<Routes, 'getUsage' | 'getStatus'> => {
  let cached: { until: number; body: Promise<StatusBody> } | null = null;

  const readStatus = async (at: Date): Promise<StatusBody> => {
    const [tallies, depths] = await Promise.all([
      deps.readMinutes(new Date(at.getTime() - STATUS_WINDOW_MS)),
      deps.queueDepths(at),
    ]);
    return presentStatus(memberStateHealth(tallies, depths, at), at);
  };

  return {
    /** The current UTC month. Test calls use none of it, so a test key reads zeros. */
    getUsage: async ({ caller: { accountId, plan, quota, test } }) => {
      const period = periodOf(deps.now());
      const units = test ? NOTHING : await deps.findUsage(accountId, period);
      return { status: 200, body: presentUsage({ period, plan, limit: quota, ...units }) };
    },

    getStatus: async () => {
      const at = deps.now();
      if (cached === null || cached.until <= at.getTime()) {
        const own = { until: at.getTime() + STATUS_CACHE_MS, body: readStatus(at) };
        cached = own;
        // A failure reaches the calls that wait for it and is not cached.
        own.body.catch(() => {
          if (cached === own) cached = null;
        });
      }
      return { status: 200, body: await cached.body };
    },
  };
};
