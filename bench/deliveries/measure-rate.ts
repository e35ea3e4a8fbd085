import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DELIVERY_QUEUES } from '@vat/queues';
import { startProcess, type TestProcess, type TestServers, until, type World } from '@vat/testkit';
import { cpuOfMiddle, MIDDLE } from '../cpu-usage.js';
import { inWorld } from '../open-world.js';
import { type ProfileLine, summarizeProfile } from '../profile.js';
import { enqueueGraphile, enqueueOurs, enqueuePlainBullmq } from './enqueue.js';
import { insertDeliveries, insertEndpoints } from './insert-deliveries.js';
import { type BenchReceiver, openReceiver, runsTypeScript } from './open-receiver.js';

export const SENDERS = [
  'bare loop',
  'bare loop, 4 connections an endpoint',
  'got loop, logged',
  'ours',
  'ours, 50 endpoints',
  'BullMQ + got',
  'graphile-worker + got',
] as const;
type Sender = (typeof SENDERS)[number];

/** The rate of one sender in the middle of a backlog. */
export type RateFigures = {
  sender: Sender;
  deliveries: number;
  per_s: number;
  /** CPU milliseconds per delivery: of the sender, and of sender, Postgres and Redis together; null without /proc. */
  sender_cpu_ms: number | null;
  all_cpu_ms: number | null;
  /** The same for each process. */
  cpu_ms: Record<string, number | null>;
  /** Cores that the rest of the machine used, without the receiver and the bench. */
  cpu_of_others: number | null;
  profile: ProfileLine[];
};

/** Deliveries in flight of one process: the same limit for every sender. */
export const IN_FLIGHT = DELIVERY_QUEUES.first.processConcurrency;
/** So few endpoints that their limits together are below the limit of the process. */
const FEW_ENDPOINTS = 50;

export type Stage = { servers: TestServers; world: World; receiver: BenchReceiver; accounts: string[] };

/** Enough endpoints that the limit per endpoint (four in flight) does not limit the deliveries in flight of one process. */
export const ENDPOINTS = 200;

/** Runs `work` with receivers for {@link ENDPOINTS}, each of an account of its own, in a world without processes. */
export const onStage = async <T>(servers: TestServers, work: (stage: Stage) => Promise<T>): Promise<T> => {
  const receiver = await openReceiver(ENDPOINTS);
  try {
    return await inWorld({ settings: receiver.settings }, async (world) =>
      work({ servers, world, receiver, accounts: await insertEndpoints(world, receiver.urls) }),
    );
  } finally {
    await receiver.stop();
  }
};

/** Fills the queue and returns a function that starts the sender. */
const prepareSender = async (stage: Stage, sender: Sender, count: number): Promise<Starter> => {
  const { world, receiver, accounts } = stage;
  const loops = { SENDER_LOOPS: String(IN_FLIGHT) };
  const program = (file: string, settings: Record<string, string>): Starter => {
    return (flags) =>
      startProcess(`bench/deliveries/${file}`, {
        ...world.settings,
        ...runsTypeScript(),
        ...loops,
        ...settings,
        ...flags,
      });
  };
  if (sender === 'bare loop' || sender === 'bare loop, 4 connections an endpoint')
    return program('send-bare.ts', {
      SENDER_URLS: receiver.urls.join(','),
      SENDER_COUNT: String(count),
      ...(sender !== 'bare loop' && { SENDER_SOCKETS: '4' }),
    });
  const few = sender === 'ours, 50 endpoints';
  const deliveries = await insertDeliveries(world, few ? accounts.slice(0, FEW_ENDPOINTS) : accounts, count);
  if (sender === 'ours' || few) {
    await enqueueOurs(world, deliveries);
    return (flags) => world.startWorker({ WORKER_QUEUES: 'webhooks', ...flags });
  }
  if (sender === 'graphile-worker + got') {
    await enqueueGraphile(world);
    return program('send-jobs.ts', { SENDER: 'graphile' });
  }
  if (sender === 'got loop, logged') return program('send-jobs.ts', { SENDER: 'loop' });
  await enqueuePlainBullmq(world, deliveries);
  return program('send-jobs.ts', { SENDER: 'bullmq' });
};

type Starter = (flags: Record<string, string>) => Promise<TestProcess>;

/** Sends a backlog of `count` deliveries with one sender in one process, and measures the rate at the receiver. */
export const measureRate = async (
  stage: Stage,
  { sender, count, profiled }: { sender: Sender; count: number; profiled: boolean },
): Promise<RateFigures> => {
  const { servers, receiver } = stage;
  const profiles = mkdtempSync(path.join(tmpdir(), 'vat-profile-'));
  await receiver.forget();
  const start = await prepareSender(stage, sender, count);
  const preload = new URL('../record-profile.mjs', import.meta.url).href;
  const process_ = await start(profiled ? { NODE_OPTIONS: `--import=${preload}`, PROFILE_DIR: profiles } : {});
  const pids = { sender: process_.pid, ...servers.pids, receiver: receiver.pid, bench: process.pid };
  try {
    const middle = { what: `the deliveries by ${sender}`, count, withinMs: 300_000 };
    const { seconds, used, others, done } = await cpuOfMiddle(pids, middle, receiver.count);
    await until('the rest', async () => (await receiver.count()) >= count, 60_000);
    const times = (await receiver.arrivals()).map(([, at]) => at);
    const [from, to] = [Math.floor(MIDDLE.from * count), Math.floor(MIDDLE.to * count)];
    const perDelivery = (...names: string[]): number | null =>
      figure((names.reduce((sum, name) => sum + (used[name] ?? Number.NaN), 0) * 1_000) / done);
    return {
      sender,
      deliveries: count,
      per_s: Math.round(((to - from) * 1_000) / ((times[to] ?? 0) - (times[from] ?? 0))),
      sender_cpu_ms: perDelivery('sender'),
      all_cpu_ms: perDelivery('sender', 'postgres', 'redis'),
      cpu_ms: Object.fromEntries(Object.keys(pids).map((name) => [name, perDelivery(name)])),
      cpu_of_others: figure((others ?? Number.NaN) / seconds),
      profile: profiled ? await process_.stop().then(() => summarizeProfile(profiles)) : [],
    };
  } catch (error) {
    throw new Error(`${sender}: ${process_.lines().slice(-5).join('\n')}`, { cause: error });
  } finally {
    await process_.stop();
    rmSync(profiles, { recursive: true, force: true });
  }
};

const figure = (value: number): number | null => (Number.isFinite(value) ? Math.round(value * 100) / 100 : null);
