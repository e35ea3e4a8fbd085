import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';

export type JoinClusterOptions = {
  connection: Redis;
  prefix: string;
  /** Names of the queues this process serves. */
  queues: readonly string[];
  /** Called with the number of processes that serve a queue, this one included, whenever it has changed. */
  onCount: (queue: string, processes: number) => void;
};

const BEAT_EVERY_MS = 2_000;
/** A process that has said nothing for this long is taken to be gone. */
const GONE_AFTER_MS = 7_000;

/**
 * Lets worker processes know how many of them serve a queue. BullMQ hands the next job to the worker that finishes one,
 * so with a cap of two over the fleet the first process keeps both for ever and a second one idles: who knows that there
 * are others takes only its share. Advice alone: the cap itself is kept elsewhere, and without Redis the last count stays.
 */
export const joinCluster = ({
  connection,
  prefix,
  queues,
  onCount,
}: JoinClusterOptions): { close: () => Promise<void> } => {
  const key = `${prefix}:fleet`;
  const me = JSON.stringify({ id: randomUUID(), queues });
  const known = new Map<string, number>();

  const count = (members: string[]): void => {
    const fleet = members.map((member) => (JSON.parse(member) as { queues: string[] }).queues);
    for (const queue of queues) {
      const processes = Math.max(1, fleet.filter((served) => served.includes(queue)).length);
      if (known.get(queue) === processes) continue;
      known.set(queue, processes);
      onCount(queue, processes);
    }
  };
  const beat = async (): Promise<void> => {
    if (connection.status !== 'ready') return;
    const now = Date.now();
    await connection.zadd(key, now + GONE_AFTER_MS, me);
    await connection.zremrangebyscore(key, 0, now);
    count(await connection.zrange(key, '0', '-1'));
  };
  const quietly = () => void beat().catch(() => undefined);

  const timer = setInterval(quietly, BEAT_EVERY_MS);
  connection.on('ready', quietly);
  quietly();
  return {
    close: async () => {
      clearInterval(timer);
      connection.off('ready', quietly);
      if (connection.status === 'ready') await connection.zrem(key, me).catch(() => undefined);
    },
  };
};
