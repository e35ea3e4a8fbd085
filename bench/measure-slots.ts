import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MEMBER_STATES, SLOTS_PER_MEMBER_STATE } from '@vat/domain';
import { until } from '@vat/testkit';
import { insertBacklog } from './insert-backlog.js';
import type { BenchServers } from './open-servers.js';
import { openWorld } from './open-world.js';
import { readBusySeconds } from './read-busy-seconds.js';
import { readCpuSeconds } from './read-cpu-seconds.js';
import { type ProfileLine, summarizeProfile } from './summarize-profile.js';

export type SlotsFigures = {
  workers: number;
  latency_ms: number;
  requests: number;
  /** Answered lookups per second in the middle of the run, and the theoretical maximum: slots ÷ latency. */
  lookups_per_s: number;
  ideal_per_s: number;
  slot_use: number;
  /** Checks recorded in the same time; fewer than the lookups if recording falls behind. */
  checks_per_s: number;
  /** Maximum number of lookups in flight of one member state; more than two would be a bug. */
  max_in_flight: number;
  /** CPU seconds per second of each process in the middle of the run; null without /proc. */
  cpu: Record<string, number | null>;
  /** CPU seconds per second of the rest of the machine, which were not available to the service. */
  cpu_of_others: number | null;
  /** CPU milliseconds per lookup of all processes. */
  cpu_ms_per_lookup: number | null;
  /** The time distribution of a profiled worker; empty otherwise. */
  profile: ProfileLine[];
};

/** The measured part: the first lookups run cold code, and at the end some queues are already empty. */
const FROM = 0.2;
const TO = 0.8;

/**
 * Processes a backlog of all member states and measures the use of the two slots per state. With `profiled` the workers write
 * CPU profiles, which slow them down a little: such a run shows only the distribution of time.
 */
export const measureSlots = async (
  servers: BenchServers,
  {
    requests,
    workers,
    latencyMs,
    profiled,
  }: { requests: number; workers: number; latencyMs: number; profiled: boolean },
): Promise<SlotsFigures> => {
  const profiles = mkdtempSync(path.join(tmpdir(), 'vat-profile-'));
  const world = await openWorld(latencyMs, { apis: 0, workers: 0 });
  try {
    await insertBacklog(world, requests);
    await world.admin('reconcile');
    const flags: Record<string, string> = profiled
      ? { NODE_OPTIONS: `--import=${new URL('record-profile.mjs', import.meta.url).href}`, PROFILE_DIR: profiles }
      : {};
    const started = await Promise.all(Array.from({ length: workers }, () => world.startWorker(flags)));
    const pids: Record<string, number> = { ...servers.pids, upstream: world.viesProcess.pid, bench: process.pid };
    for (const [n, worker] of started.entries()) pids[`worker ${n + 1}`] = worker.pid;

    const snapshot = async (share: number) => {
      const answered = await until(
        `${share * 100} % of the backlog`,
        async () => {
          const { totals } = await world.vies.stats();
          return totals.answered >= share * requests && totals.answered;
        },
        300_000,
      );
      const at = performance.now();
      const cpu = Object.entries(pids).map(([name, pid]) => [name, readCpuSeconds(pid, name === 'postgres')] as const);
      const [recorded] = await world.sql<{ n: number }>('SELECT count(*)::int AS n FROM "check"');
      return { answered, at, cpu: new Map(cpu), busy: readBusySeconds(), checks: recorded?.n ?? 0 };
    };
    const first = await snapshot(FROM);
    const last = await snapshot(TO);
    const { states } = await world.vies.stats();
    await until(
      'every check to be recorded',
      async () => {
        const [left] = await world.sql<{ n: number }>(`SELECT count(*)::int AS n FROM request WHERE state = 'pending'`);
        return left?.n === 0;
      },
      120_000,
    );

    const seconds = (last.at - first.at) / 1_000;
    const lookups = last.answered - first.answered;
    const cpu = Object.keys(pids).map((name): [string, number | null] => {
      const [before, after] = [first.cpu.get(name), last.cpu.get(name)];
      return [name, typeof before === 'number' && typeof after === 'number' ? round((after - before) / seconds) : null];
    });
    const own = cpu.reduce((sum, [, share]) => sum + (share ?? 0), 0);
    const all = first.busy === null || last.busy === null ? null : (last.busy - first.busy) / seconds;
    const ideal = (MEMBER_STATES.length * SLOTS_PER_MEMBER_STATE * 1_000) / latencyMs;
    if (profiled) await Promise.all(started.map((worker) => worker.stop()));
    return {
      workers,
      latency_ms: latencyMs,
      requests,
      lookups_per_s: round(lookups / seconds),
      ideal_per_s: round(ideal),
      slot_use: round(lookups / seconds / ideal),
      checks_per_s: round((last.checks - first.checks) / seconds),
      max_in_flight: Math.max(...Object.values(states).map((state) => state.max_in_flight)),
      cpu: Object.fromEntries(cpu),
      cpu_of_others: all === null ? null : round(Math.max(0, all - own)),
      cpu_ms_per_lookup: own > 0 ? round((own * 1_000 * seconds) / lookups) : null,
      profile: profiled ? summarizeProfile(profiles) : [],
    };
  } finally {
    await world.stop();
    rmSync(profiles, { recursive: true, force: true });
  }
};

const round = (value: number): number => Math.round(value * 1_000) / 1_000;
