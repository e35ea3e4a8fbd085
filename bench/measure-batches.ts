import { readFileSync } from 'node:fs';
import { MEMBER_STATES, SLOTS_PER_MEMBER_STATE } from '@vat/domain';
import { insertAccount, until, uploadBatch } from '@vat/testkit';
import type { BenchServers } from './open-servers.js';
import { openWorld } from './open-world.js';
import { readBusySeconds } from './read-busy-seconds.js';
import { readCpuSeconds } from './read-cpu-seconds.js';
import { uniqueNumber } from './unique-number.js';

/** Memory of a process in mebibytes: before the upload, and the maximum until the batch was completed. */
type Memory = { before: number | null; max: number | null };

export type BatchesFigures = {
  workers: number;
  latency_ms: number;
  lines: number;
  file_bytes: number;
  /** Milliseconds from the first byte of the upload to its 201, and to the upstream receiving the first line. */
  answered_ms: number;
  first_line_ms: number;
  /** Answered lookups per second in the middle of the batch, and the theoretical maximum: slots ÷ latency. */
  lines_per_s: number;
  ideal_per_s: number;
  slot_use: number;
  /** Maximum number of lookups in flight of one member state; more than two would be a bug. */
  max_in_flight: number;
  memory: Record<string, Memory>;
  /** CPU seconds per second of each process in the middle of the batch; null without /proc. */
  cpu: Record<string, number | null>;
  cpu_ms_per_line: number | null;
  /** CPU seconds per second of the rest of the machine. */
  cpu_of_others: number | null;
};

const FILE_BYTES = 2 * 1024 * 1024;
const FROM = 0.2;
const TO = 0.8;
const POLL_INTERVAL_MS = 50;

/** A line of /proc/<pid>/status in mebibytes; null without /proc. */
const readMebibytes = (pid: number, what: 'VmRSS' | 'VmHWM'): number | null => {
  try {
    const kibibytes = new RegExp(`^${what}:\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kibibytes === undefined ? null : Math.round(Number(kibibytes) / 1024);
  } catch {
    return null;
  }
};

/** A file of exactly 2 MiB: `lines` numbers, alternating over all member states, and notes as filler. */
const fileOf = (lines: number): Buffer => {
  const head = 'vat_number;note\n';
  const space = FILE_BYTES - head.length;
  const rows = Array.from({ length: lines }, (_, n) => {
    const state = MEMBER_STATES[n % MEMBER_STATES.length] ?? 'DE';
    const size = Math.floor((space * (n + 1)) / lines) - Math.floor((space * n) / lines);
    return `${uniqueNumber(state, Math.floor(n / MEMBER_STATES.length))};`.padEnd(size - 1, 'x');
  });
  return Buffer.from(`${head}${rows.join('\n')}\n`);
};

/** Uploads a file of 2 MiB and processes it. Measures the time to the first lookup, the use of the slots, and memory. */
export const measureBatches = async (
  servers: BenchServers,
  { lines, workers, latencyMs }: { lines: number; workers: number; latencyMs: number },
): Promise<BatchesFigures> => {
  const world = await openWorld(latencyMs, { apis: 1, workers });
  try {
    const account = await insertAccount(world);
    const processes: Record<string, number> = { api: world.apis[0]?.pid ?? 0 };
    for (const [n, worker] of world.workers.entries()) processes[`worker ${n + 1}`] = worker.pid;
    const all = { ...servers.pids, upstream: world.viesProcess.pid, ...processes };
    // Warm-up: the first upload of the API and the first batch of a worker run cold code.
    const small = MEMBER_STATES.flatMap((state) => [uniqueNumber(state, 90_000), uniqueNumber(state, 90_001)]);
    const warm = await uploadBatch(world, `vat_number\n${small.join('\n')}`, { key: account.live_key });
    const completed = async (id: string): Promise<boolean> =>
      (await world.http(account.live_key).get(`/v1/batches/${id}`)).body.status === 'completed';
    await until('the first batch', () => completed(warm.body.batch_id), 60_000);
    await world.vies.reset();
    await world.vies.defaults({ latency_ms: latencyMs });

    const before = Object.entries(processes).map(([name, pid]) => [name, readMebibytes(pid, 'VmRSS')] as const);
    const file = fileOf(lines);
    const startedAt = performance.now();
    const startedOn = Date.now();
    const { body, status } = await uploadBatch(world, file, { key: account.live_key, fileName: 'bench.csv' });
    const answeredMs = performance.now() - startedAt;
    if (status !== 201) throw new Error(`the upload was answered ${status}`);
    const earliest = await until('the first line', async () => (await world.vies.journal())[0], 60_000);
    const snapshot = async (share: number) => {
      const answered = await until(
        `${share * 100} % of the lines`,
        async () => {
          await new Promise((resolve) => setTimeout(resolve, POLL_INTERVAL_MS));
          const { totals } = await world.vies.stats();
          return totals.answered >= share * lines && totals.answered;
        },
        600_000,
      );
      const at = performance.now();
      const cpu = Object.entries(all).map(([name, pid]) => [name, readCpuSeconds(pid, name === 'postgres')] as const);
      return { answered, at, cpu: new Map(cpu), busy: readBusySeconds() };
    };
    const first = await snapshot(FROM);
    const last = await snapshot(TO);
    await until('the batch', () => completed(body.batch_id), 600_000);
    const memory = before.map(([name, rss]): [string, Memory] => [
      name,
      { before: rss, max: readMebibytes(processes[name] ?? 0, 'VmHWM') },
    ]);

    const { states } = await world.vies.stats();
    const seconds = (last.at - first.at) / 1_000;
    const lookups = last.answered - first.answered;
    const cpu = Object.keys(all).map((name): [string, number | null] => {
      const [from, to] = [first.cpu.get(name), last.cpu.get(name)];
      return [name, typeof from === 'number' && typeof to === 'number' ? round((to - from) / seconds) : null];
    });
    const own = cpu.reduce((sum, [, share]) => sum + (share ?? 0), 0);
    const busy = first.busy === null || last.busy === null ? null : (last.busy - first.busy) / seconds;
    const ideal = (MEMBER_STATES.length * SLOTS_PER_MEMBER_STATE * 1_000) / latencyMs;
    return {
      workers,
      latency_ms: latencyMs,
      lines,
      file_bytes: file.length,
      answered_ms: Math.round(answeredMs),
      first_line_ms: Math.round(earliest.at - startedOn),
      lines_per_s: round(lookups / seconds),
      ideal_per_s: round(ideal),
      slot_use: round(lookups / seconds / ideal),
      max_in_flight: Math.max(...Object.values(states).map((state) => state.max_in_flight)),
      memory: Object.fromEntries(memory),
      cpu: Object.fromEntries(cpu),
      cpu_ms_per_line: own > 0 ? round((own * 1_000 * seconds) / lookups) : null,
      cpu_of_others: busy === null ? null : round(Math.max(0, busy - own)),
    };
  } finally {
    await world.stop();
  }
};

const round = (value: number): number => Math.round(value * 1_000) / 1_000;
