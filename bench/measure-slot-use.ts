import { MEMBER_STATES, SLOTS_PER_MEMBER_STATE } from '@vat/domain';
import type { World } from '@vat/testkit';
import { cpuOfMiddle } from './cpu-usage.js';

export type SlotUse = {
  latency_ms: number;
  /** Answered lookups per second in the middle of the run, and the theoretical maximum: slots ÷ latency. */
  lookups_per_s: number;
  ideal_per_s: number;
  slot_use: number;
  /** Checks recorded in the same time; fewer than the lookups if recording falls behind. */
  checks_per_s: number;
  /** CPU seconds per second of each process in the middle of the run; null without /proc. */
  cpu: Record<string, number | null>;
  /** CPU seconds per second of the rest of the machine, which were not available to the service. */
  cpu_of_others: number | null;
  /** CPU milliseconds per lookup of all processes. */
  cpu_ms_per_lookup: number | null;
};

const WITHIN_MS = 600_000;

const round = (value: number): number => Math.round(value * 1_000) / 1_000;

/** Measures the use of the slots of all member states while the service makes `count` lookups. `pids`: its processes. */
export const measureSlotUse = async (
  world: World,
  { count, latencyMs, pids }: { count: number; latencyMs: number; pids: Record<string, number> },
): Promise<SlotUse> => {
  const answered = async () => (await world.vies.stats()).totals.answered;
  const recorded = async () => {
    const [row] = await world.sql<{ n: number }>('SELECT count(*)::int AS n FROM "check"');
    return row?.n ?? 0;
  };
  const middle = await cpuOfMiddle(pids, { what: 'the lookups', count, withinMs: WITHIN_MS }, answered, recorded);
  const { seconds, used, own, others, done: lookups } = middle;
  const ideal = (MEMBER_STATES.length * SLOTS_PER_MEMBER_STATE * 1_000) / latencyMs;
  return {
    latency_ms: latencyMs,
    lookups_per_s: round(lookups / seconds),
    ideal_per_s: round(ideal),
    slot_use: round(lookups / seconds / ideal),
    checks_per_s: round(middle.beside / seconds),
    cpu: Object.fromEntries(
      Object.entries(used).map(([name, value]) => [name, value === null ? null : round(value / seconds)]),
    ),
    cpu_of_others: others === null ? null : round(others / seconds),
    cpu_ms_per_lookup: own > 0 ? round((own * 1_000) / lookups) : null,
  };
};

/** The maximum number of lookups in flight of one member state so far; more than two would be a bug. */
export const readMaxInFlight = async (world: World): Promise<number> => {
  const { states } = await world.vies.stats();
  return Math.max(...Object.values(states).map((state) => state.max_in_flight));
};
