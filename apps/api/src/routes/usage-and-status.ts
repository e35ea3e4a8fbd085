import { presentStatus, presentUsage } from '@vat/contracts';
import {
  COUNTED_WAITING,
  HISTORY_PERIOD_MS,
  type MemberState,
  type MinuteTally,
  memberStateHealth,
  periodOf,
  STATUS_WINDOW_MS,
  type Wait,
} from '@vat/domain';
import { cached } from '../cached.js';
import type { ResponseTo, Routes } from '../http/route.js';
import type { ReadHistory } from './status-history.js';

export type StatusDeps = {
  readMinutes: (from: Date) => Promise<MinuteTally[]>;
  readWaits: (now: Date, counted: number) => Promise<Wait[]>;
  /** Null when it is unknown. */
  readDownStates: () => Promise<ReadonlySet<MemberState> | null>;
  readHistory: ReadHistory;
  now: () => Date;
};

export type UsageRoutesDeps = StatusDeps & {
  findUsage: (accountId: string, period: string) => Promise<{ used: number; reserved: number }>;
};

const NOTHING = { used: 0, reserved: 0 };

/** The status is read from the database at most once in this time, however often it is polled. */
const STATUS_CACHE_MS = 2_000;

/** Reads the status of the member states. */
export const readStatus =
  ({ readMinutes, readWaits, readDownStates }: StatusDeps) =>
  async (at: Date): Promise<ResponseTo<'getStatus'>['body']> => {
    const [tallies, waits, down] = await Promise.all([
      readMinutes(new Date(at.getTime() - STATUS_WINDOW_MS)),
      readWaits(at, COUNTED_WAITING),
      readDownStates(),
    ]);
    return presentStatus(memberStateHealth(tallies, waits, down, at), at);
  };

/** The routes of /v1/usage and /v1/status. */
export const usageRoutes = (deps: UsageRoutesDeps): Pick<Routes, 'getUsage' | 'getStatus' | 'getStatusHistory'> => {
  const status = cached(readStatus(deps), STATUS_CACHE_MS);
  return {
    /** The current UTC month. Test calls use none of it, so a test key reads zeros. */
    getUsage: async ({ caller: { accountId, plan, quota, test } }) => {
      const period = periodOf(deps.now());
      const units = test ? NOTHING : await deps.findUsage(accountId, period);
      return { status: 200, body: presentUsage({ period, plan, limit: quota, ...units }) };
    },

    getStatus: async () => ({ status: 200, body: await status(deps.now()) }),

    getStatusHistory: async ({ query: { member_state: memberState, from, to = deps.now() } }) => {
      const period = { from: from ?? new Date(to.getTime() - HISTORY_PERIOD_MS.default), to };
      return { status: 200, body: await deps.readHistory(period, memberState ?? null) };
    },
  };
};
