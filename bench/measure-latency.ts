import { uuidOf } from '@vat/domain';
import type { TestServers, World } from '@vat/testkit';
import { type CpuCost, measureCpu, pick } from './cost/cpu-cost.js';
import { startBare } from './cost/measure-bare.js';
import { callPaced, type Pace, type Percentiles, percentiles, warmUp } from './measuring.js';
import { inWorld } from './open-world.js';
import { numberAt } from './unique-number.js';

export type LatencyFigures = {
  upstream_latency_ms: number;
  checks_per_s: number;
  /**
   * Time of a call minus the upstream's own time for it, in milliseconds: of POST /v1/checks, of the same with bare programs, and
   * of a direct lookup.
   */
  added: Percentiles;
  bare: Percentiles;
  direct: Percentiles;
  /** Added latency of a check divided by that of a direct lookup. */
  ratio_p50: number;
  /** Answers other than 201; their times are not in the figures. */
  not_201: number;
  /** CPU milliseconds of a check, by process. */
  cpu_ms: CpuCost;
};

/** A key may make ten calls per second; with this many keys the rate stays well below that. */
const KEYS = 4;

type Call = (n: number) => Promise<{ number: string; ok: boolean }>;

/** Times paced calls. `from`: the index of the first number; no two calls of a world use the same number. */
const timeCalls = (call: Call, { perSecond, seconds }: Pace, from: number) =>
  callPaced(perSecond, perSecond * seconds, async (n) => {
    const sentAt = performance.now();
    const end = await call(from + n);
    return { ...end, ms: performance.now() - sentAt };
  });

const post = async (url: string, body: unknown, headers: Record<string, string> = {}): Promise<number> => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  await response.arrayBuffer();
  return response.status;
};

/** The time of each call minus the upstream's own time for it. */
const addedBy = async (world: World, calls: { number: string; ms: number }[]): Promise<number[]> => {
  const own = new Map<string, number>();
  for (const { number, at, finished_at } of await world.vies.journal())
    if (finished_at !== null) own.set(number, (own.get(number) ?? 0) + finished_at - at);
  return calls.map(({ number, ms }) => {
    const upstream = own.get(number);
    if (upstream === undefined) throw new Error(`the upstream got no lookup of ${number}`);
    return ms - upstream;
  });
};

/** The latency that the bare programs add, which do no more than a direct check must: with the same hops and statements. */
const measureBare = (latencyMs: number, pace: Pace): Promise<Percentiles> =>
  inWorld({ latencyMs }, async (world) => {
    const account = String(uuidOf('account', world.account.account_id));
    const [api, worker] = [
      await startBare(world, 'bare-checks.ts', { BARE_ACCOUNT: account }),
      await startBare(world, 'bare-lookups.ts', {}),
    ];
    const check: Call = async (n) => {
      const number = numberAt(n);
      const url = `http://127.0.0.1:${String(api.ready.port)}/v1/checks`;
      return { number, ok: (await post(url, { vat_number: number })) === 201 };
    };
    try {
      await warmUp(pace.warmUpCalls, check);
      return percentiles(await addedBy(world, await timeCalls(check, pace, pace.warmUpCalls)));
    } finally {
      await Promise.all([api.stop(), worker.stop()]);
    }
  });

/** Measures the latency that a direct check adds to the upstream's own time, beside that of bare programs and a direct lookup. */
export const measureLatency = async (
  servers: TestServers,
  upstreamLatencyMs: number,
  pace: Pace,
): Promise<LatencyFigures> => {
  const bare = await measureBare(upstreamLatencyMs, pace);
  return inWorld({ latencyMs: upstreamLatencyMs, apis: 1, workers: 1 }, async (world) => {
    const { perSecond, seconds, warmUpCalls } = pace;
    const keys: string[] = [];
    for (let n = 0; n < KEYS; n += 1) keys.push((await world.newAccount({ plan: 'enterprise' })).live_key);
    const check: Call = async (n) => {
      const number = numberAt(n);
      const authorization = `Bearer ${keys[n % KEYS]}`;
      const status = await post(`${world.baseUrl()}/v1/checks`, { vat_number: number }, { authorization });
      return { number, ok: status === 201 };
    };
    const direct: Call = async (n) => {
      const number = numberAt(n);
      const body = { countryCode: number.slice(0, 2), vatNumber: number.slice(2) };
      return { number, ok: (await post(`${world.vies.url}/check-vat-number`, body)) === 200 };
    };
    const count = perSecond * seconds;
    await warmUp(warmUpCalls, direct);
    const baseline = await timeCalls(direct, pace, warmUpCalls);
    const [first, measured] = [warmUpCalls + count, 2 * warmUpCalls + count];
    await warmUp(warmUpCalls, (n) => check(first + n));
    let checks: Awaited<ReturnType<typeof timeCalls>> = [];
    const pids = { api: world.apis[0]?.pid ?? 0, worker: world.workers[0]?.pid ?? 0, ...servers.pids };
    const cpu = await measureCpu(pids, count, async () => {
      checks = await timeCalls(check, pace, measured);
    });
    const answered = checks.filter(({ ok }) => ok);
    const added = percentiles(await addedBy(world, answered));
    const floor = percentiles(await addedBy(world, baseline));
    return {
      upstream_latency_ms: upstreamLatencyMs,
      checks_per_s: perSecond,
      added,
      bare,
      direct: floor,
      ratio_p50: Math.round((added.p50 / floor.p50) * 10) / 10,
      not_201: checks.length - answered.length,
      cpu_ms: pick(cpu, 'api', 'worker', 'postgres', 'redis'),
    };
  });
};
