import type { MinuteTally } from '../member-state-health.js';
import { MEMBER_STATES, type MemberState } from '../member-states.js';
import type { Batch } from './batch.js';
import {
  aheadInTurns,
  estimateEnd,
  outlookOf,
  RECENT_MS,
  type StateOutlook,
  USUAL_DAYS,
  type UsualHour,
} from './estimate-end.js';

/** `eta`: when the batch will be completed; null when that is unknown. `waitingFor`: its member states that are down or saturated. */
export type BatchForecast = { eta: Date | null; waitingFor: MemberState[] };

export const NO_FORECAST: BatchForecast = { eta: null, waitingFor: [] };

/** Requests of a batch in a member state that have not ended. */
export type RemainingLines = { batchId: string; memberState: MemberState; requests: number };

/** Requests of an account's batches that wait for a member state. */
export type Backlog = { memberState: MemberState; accountId: string; requests: number };

/** What accounts wait for is counted up to these numbers, for each member state. */
export type BacklogLimits = { accounts: number; lines: number };
const BACKLOG_LIMITS: BacklogLimits = { accounts: 20, lines: 5_000 };

/** What is true for all batches at a time. Reading it is shared by all calls of some seconds. */
type Conditions = { outlooks: ReadonlyMap<MemberState, StateOutlook>; backlog: readonly Backlog[] };

type ReadConditionsDeps = {
  readMinutes: (from: Date) => Promise<MinuteTally[]>;
  /** Changes with the hour; the caller may cache it for minutes. */
  readUsualHours: (now: Date) => Promise<UsualHour[]>;
  /** Null when it is unknown. */
  readDownStates: () => Promise<ReadonlySet<MemberState> | null>;
  readBacklog: (now: Date, memberStates: readonly MemberState[], limits: BacklogLimits) => Promise<Backlog[]>;
};

/** Reads what the member states do now and usually, and what waits for them. */
export const readConditions =
  ({ readMinutes, readUsualHours, readDownStates, readBacklog }: ReadConditionsDeps) =>
  async (now: Date): Promise<Conditions> => {
    const [tallies, hours, down, backlog] = await Promise.all([
      readMinutes(new Date(now.getTime() - RECENT_MS)),
      readUsualHours(now),
      readDownStates(),
      readBacklog(now, MEMBER_STATES, BACKLOG_LIMITS),
    ]);
    const of = <T extends { memberState: MemberState }>(rows: readonly T[], memberState: MemberState) =>
      rows.filter((row) => row.memberState === memberState);
    return {
      outlooks: new Map(
        MEMBER_STATES.map((code) => [
          code,
          outlookOf(of(tallies, code), of(hours, code), down?.has(code) ?? null, now),
        ]),
      ),
      backlog,
    };
  };

/** When the usual hours of a time end and begin: whole hours, the current one excluded. */
export const usualPeriod = (now: Date): { from: Date; to: Date } => {
  const to = Math.floor(now.getTime() / 3_600_000) * 3_600_000;
  return { from: new Date(to - USUAL_DAYS * 86_400_000), to: new Date(to) };
};

type ForecastDeps = {
  conditions: (now: Date) => Promise<Conditions>;
  /** What an account's batches wait for, the oldest batch first. */
  readRemaining: (accountId: string) => Promise<RemainingLines[]>;
  now: () => Date;
};

type ToForecast = Pick<Batch, 'id' | 'status' | 'createdAt'>;

/**
 * Forecasts those of an account's batches that are not completed, by id. `added`: what a batch that is not stored yet will wait
 * for.
 */
export type ForecastBatches = (
  accountId: string,
  batches: readonly ToForecast[],
  added?: readonly RemainingLines[],
) => Promise<ReadonlyMap<string, BatchForecast>>;

/**
 * Forecasts batches of an account. Its batches are processed in the order of their upload, so each also waits for those before
 * it. Reads nothing when every batch is completed.
 */
export const forecastBatches =
  ({ conditions, readRemaining, now }: ForecastDeps): ForecastBatches =>
  async (accountId, batches, added = []) => {
    const active = batches.filter(({ status }) => status !== 'completed');
    if (active.length === 0) return new Map();
    const at = now();
    const [{ outlooks, backlog }, stored] = await Promise.all([conditions(at), readRemaining(accountId)]);
    const remaining = [...stored, ...added];
    const forecast = ({ id, createdAt }: ToForecast): BatchForecast => {
      const mine = remaining.filter(({ batchId }) => batchId === id);
      const work = mine.map(({ memberState }) => {
        // Ids of batches are in the order of their upload.
        const upTo = remaining.filter((of) => of.memberState === memberState && of.batchId <= id);
        const own = upTo.reduce((total, { requests }) => total + requests, 0);
        const others = backlog.filter((of) => of.memberState === memberState && of.accountId !== accountId);
        return {
          memberState,
          ahead: aheadInTurns(
            own,
            others.map(({ requests }) => requests),
          ),
        };
      });
      return {
        eta: estimateEnd(work, outlooks, createdAt, at),
        waitingFor: work
          .map(({ memberState }) => memberState)
          .filter((memberState) => (outlooks.get(memberState)?.condition ?? 'ok') !== 'ok'),
      };
    };
    return new Map(active.map((batch) => [batch.id, forecast(batch)]));
  };

/** Forecasts, or leaves batches without a forecast: they can be read and uploaded while it cannot be made in time. */
export const forecastIfPossible =
  (forecast: ForecastBatches, onFailure: (error: unknown) => void): ForecastBatches =>
  async (...call) => {
    try {
      return await forecast(...call);
    } catch (error) {
      onFailure(error);
      return new Map();
    }
  };
