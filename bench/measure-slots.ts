import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestServers, until, type World } from '@vat/testkit';
import { addBareLookups } from './cost/bare-queue.js';
import { startBare } from './cost/measure-bare.js';
import { measureStorage, type StorageFigures } from './cost/measure-storage.js';
import { insertBacklog } from './insert-rows.js';
import { measureSlotUse, readMaxInFlight, type SlotUse } from './measure-slot-use.js';
import { openWorld } from './open-world.js';
import { type ProfileLine, summarizeProfile } from './profile.js';

export type SlotsFigures = SlotUse & {
  /** The same of a bare program in the same run: a BullMQ job with its statements and a post by got. Null with profiles. */
  bare: SlotUse | null;
  /** Answers take between half of `latency_ms` and one and a half of it; otherwise all take the same time. */
  varies: boolean;
  workers: number;
  requests: number;
  max_in_flight: number;
  /** The time distribution of a profiled worker; empty otherwise. */
  profile: ProfileLine[];
  storage: StorageFigures;
};

/** An upstream that answers after `latencyMs`, or after half of it to one and a half. */
const openUpstream = async (latencyMs: number, varies: boolean): Promise<World> => {
  const world = await openWorld({ latencyMs });
  if (varies) await world.vies.defaults({ latency_ms: latencyMs / 2, jitter_ms: latencyMs });
  return world;
};

const measureBare = async (
  servers: TestServers,
  { requests, latencyMs, varies }: { requests: number; latencyMs: number; varies: boolean },
): Promise<SlotUse> => {
  const world = await openUpstream(latencyMs, varies);
  try {
    await insertBacklog(world, requests);
    const rows = await world.sql<{ id: string; number: string }>(
      'SELECT id, vat_number AS number FROM request ORDER BY id',
    );
    await addBareLookups(world, rows);
    const worker = await startBare(world, 'bare-lookups.ts', {});
    const pids = { ...servers.pids, upstream: world.viesProcess.pid, bench: process.pid, 'worker 1': worker.pid };
    const use = await measureSlotUse(world, { count: requests, latencyMs, pids });
    await worker.stop();
    return use;
  } finally {
    await world.stop();
  }
};

/**
 * Processes a backlog of all member states and measures the use of the two slots per state. With `profiled` the workers write
 * CPU profiles, which slow them down a little: such a run shows only the distribution of time.
 */
export const measureSlots = async (
  servers: TestServers,
  {
    requests,
    workers,
    latencyMs,
    varies = false,
    profiled = false,
  }: { requests: number; workers: number; latencyMs: number; varies?: boolean; profiled?: boolean },
): Promise<SlotsFigures> => {
  const profiles = mkdtempSync(path.join(tmpdir(), 'vat-profile-'));
  const bare = profiled ? null : await measureBare(servers, { requests, latencyMs, varies });
  const world = await openUpstream(latencyMs, varies);
  try {
    const storage = measureStorage(requests);
    await storage.begin(world);
    await insertBacklog(world, requests);
    await world.admin('reconcile');
    await storage.enqueued(world);
    const flags: Record<string, string> = profiled
      ? { NODE_OPTIONS: `--import=${new URL('record-profile.mjs', import.meta.url).href}`, PROFILE_DIR: profiles }
      : {};
    const started = await Promise.all(Array.from({ length: workers }, () => world.startWorker(flags)));
    const pids: Record<string, number> = { ...servers.pids, upstream: world.viesProcess.pid, bench: process.pid };
    for (const [n, worker] of started.entries()) pids[`worker ${n + 1}`] = worker.pid;

    const use = await measureSlotUse(world, { count: requests, latencyMs, pids });
    await until(
      'every check to be recorded',
      async () => {
        const [left] = await world.sql<{ n: number }>(`SELECT count(*)::int AS n FROM request WHERE state = 'pending'`);
        return left?.n === 0;
      },
      120_000,
    );

    if (profiled) await Promise.all(started.map((worker) => worker.stop()));
    return {
      ...use,
      bare,
      varies,
      workers,
      requests,
      max_in_flight: await readMaxInFlight(world),
      profile: profiled ? summarizeProfile(profiles) : [],
      storage: await storage.end(world),
    };
  } finally {
    await world.stop();
    rmSync(profiles, { recursive: true, force: true });
  }
};
