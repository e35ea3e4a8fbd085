import { randomUUID } from 'node:crypto';
import type { RedisConnection } from './connect-redis.js';

type JoinClusterOptions = {
  connection: RedisConnection;
  prefix: string;
  /** Names of the queues that this process serves. */
  queues: readonly string[];
  /** Called when the number of processes that serve a queue, this one included, has changed. */
  onCount: (queue: string, processes: number) => void;
  /** A clock that the processes share. */
  now: () => Date;
};

/** Short, so that the places of a process that leaves are idle for less than a second. */
const HEARTBEAT_INTERVAL_MS = 500;
/** The members are read when their number has changed, and in every so many heartbeats for what that does not show. */
const HEARTBEATS_PER_READ = 4;
/** A process without a heartbeat for this long is no longer a member. */
const MEMBER_TTL_MS = 7_000;

/**
 * Reports to each worker process how many processes serve a queue. BullMQ gives the next job to the worker that finishes
 * one, so with a global limit of two jobs the first process would run both permanently and a second process none; with the
 * count, each process takes only its share. The count is advisory: the limit is enforced elsewhere, and while Redis is
 * unavailable the last count stays in use.
 */
export const joinCluster = ({
  connection,
  prefix,
  queues,
  onCount,
  now,
}: JoinClusterOptions): { close: () => Promise<void> } => {
  const key = `${prefix}:fleet`;
  const member = JSON.stringify({ id: randomUUID(), queues });
  const counts = new Map<string, number>();
  let heartbeats = 0;
  let size = 0;

  const updateCounts = (members: string[]): void => {
    const servedQueues = members.map((text) => (JSON.parse(text) as { queues: string[] }).queues);
    for (const queue of queues) {
      const processes = Math.max(1, servedQueues.filter((served) => served.includes(queue)).length);
      if (counts.get(queue) === processes) continue;
      counts.set(queue, processes);
      onCount(queue, processes);
    }
  };
  const sendHeartbeat = async (): Promise<void> => {
    if (connection.status !== 'ready') return;
    const at = now().getTime();
    await connection.zadd(key, at + MEMBER_TTL_MS, member);
    await connection.zremrangebyscore(key, 0, at);
    const members = await connection.zcard(key);
    const changed = members !== size;
    size = members;
    if (changed || heartbeats % HEARTBEATS_PER_READ === 0) updateCounts(await connection.zrange(key, '0', '-1'));
    heartbeats += 1;
  };
  // A heartbeat that fails is repeated by the next one.
  const heartbeat = () => void sendHeartbeat().catch(() => undefined);

  const timer = setInterval(heartbeat, HEARTBEAT_INTERVAL_MS);
  connection.on('ready', heartbeat);
  heartbeat();
  return {
    close: async () => {
      clearInterval(timer);
      connection.off('ready', heartbeat);
      if (connection.status === 'ready') await connection.zrem(key, member).catch(() => undefined);
    },
  };
};
