import { Queue, type QueueOptions } from 'bullmq';

/** A queue over a shared connection, which reports its own errors. */
export const openQueue = (name: string, options: QueueOptions): Queue => {
  // The event streams are not read; a short maximum length limits their memory.
  const streams = { events: { maxLen: 10 } };
  const queue = new Queue(name, { skipVersionCheck: true, streams, ...options });
  queue.on('error', () => undefined);
  return queue;
};

export const closeQueues = async (queues: Iterable<Queue>): Promise<void> => {
  await Promise.all([...queues].map((queue) => queue.close().catch(() => undefined)));
};
