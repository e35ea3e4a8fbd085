import { readFileSync } from 'node:fs';
import { MEMBER_STATES } from '@vat/domain';
import { insertAccount, type TestServers, until, uploadBatch } from '@vat/testkit';
import { measureCpu } from './cost/cpu-cost.js';
import { measureSlotUse, readMaxInFlight, type SlotUse } from './measure-slot-use.js';
import { inWorld } from './open-world.js';
import { numberAt, uniqueNumber } from './unique-number.js';

/** Memory of a process in mebibytes: before the upload, and the maximum until the batch was completed. */
type Memory = { before: number | null; max: number | null };

export type BatchesFigures = SlotUse & {
  workers: number;
  lines: number;
  file_bytes: number;
  /** Milliseconds from the first byte of the upload to its 201, and to the upstream receiving the first line. */
  answered_ms: number;
  first_line_ms: number;
  max_in_flight: number;
  memory: Record<string, Memory>;
  /** CPU milliseconds of each process from the first byte to the 201, per line. */
  upload_cpu_ms: Record<string, number>;
};

const FILE_BYTES = 2 * 1024 * 1024;

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
    const size = Math.floor((space * (n + 1)) / lines) - Math.floor((space * n) / lines);
    return `${numberAt(n)};`.padEnd(size - 1, 'x');
  });
  return Buffer.from(`${head}${rows.join('\n')}\n`);
};

/** Uploads a file of 2 MiB and processes it. Measures the time to the first lookup, the use of the slots, and memory. */
export const measureBatches = (
  servers: TestServers,
  { lines, workers, latencyMs }: { lines: number; workers: number; latencyMs: number },
): Promise<BatchesFigures> =>
  inWorld({ latencyMs, apis: 1, workers }, async (world) => {
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
    let uploaded: Awaited<ReturnType<typeof uploadBatch>> | undefined;
    const upload_cpu_ms = await measureCpu(all, lines, async () => {
      uploaded = await uploadBatch(world, file, { key: account.live_key, fileName: 'bench.csv' });
    });
    const answeredMs = performance.now() - startedAt;
    const { body, status } = uploaded as NonNullable<typeof uploaded>;
    if (status !== 201) throw new Error(`the upload was answered ${status}`);
    const earliest = await until('the first line', async () => (await world.vies.journal())[0], 60_000);
    const use = await measureSlotUse(world, { count: lines, latencyMs, pids: all });
    await until('the batch', () => completed(body.batch_id), 600_000);
    const memory = before.map(([name, rss]): [string, Memory] => [
      name,
      { before: rss, max: readMebibytes(processes[name] ?? 0, 'VmHWM') },
    ]);
    return {
      ...use,
      workers,
      lines,
      file_bytes: file.length,
      answered_ms: Math.round(answeredMs),
      first_line_ms: Math.round(earliest.at - startedOn),
      max_in_flight: await readMaxInFlight(world),
      memory: Object.fromEntries(memory),
      upload_cpu_ms,
    };
  });
