import type { IncomingMessage, ServerResponse } from 'node:http';
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { ALL_QUEUES } from './job-catalogue.js';

/** The board as a handler of Express, to be mounted where `basePath` says. */
export type QueueBoard = {
  handle: (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void;
  close: () => Promise<void>;
};

type QueueBoardOptions = {
  /** Where people reach it, without a slash at the end; the paths on its page begin with it. */
  basePath: string;
  /** Hears why the board could not answer; whoever asked is told no more than that. */
  onError: (error: Error) => void;
};

const TITLE = 'VAT queues';

/**
 * A page about every queue: what waits, is delayed and runs, job by job (jobs carry ids, never documents). It reads alone: rows
 * are the record, and a job that is retried or deleted by hand would say something else than its row. Callers let only GET
 * through, too. bull-board is loaded here and not on import: most processes never show it.
 */
export const createQueueBoard = async (
  connection: Redis,
  prefix: string,
  { basePath, onError }: QueueBoardOptions,
): Promise<QueueBoard> => {
  const [{ createBullBoard }, { BullMQAdapter }, { ExpressAdapter }] = await Promise.all([
    import('@bull-board/api'),
    import('@bull-board/api/bullMQAdapter'),
    import('@bull-board/express'),
  ]);
  const queues = ALL_QUEUES.map(({ name }) => {
    // Whoever looks writes nothing: a queue's own facts are the producer's to set.
    const queue = new Queue(name, { connection, prefix, skipVersionCheck: true, skipMetasUpdate: true });
    queue.on('error', () => undefined); // the shared connection reports its own errors
    return queue;
  });
  const serverAdapter = new ExpressAdapter().setBasePath(basePath);
  createBullBoard({
    queues: queues.map(
      (queue) => new BullMQAdapter(queue, { readOnlyMode: true, displayName: queue.name.replace(/[{}]/g, '') }),
    ),
    serverAdapter,
    options: { uiConfig: { boardTitle: TITLE } },
  });
  // The library's own answer holds the stack.
  serverAdapter.setErrorHandler((error) => {
    onError(error);
    return { status: 500, body: { error: 'The queues cannot be read.' } };
  });
  const app = serverAdapter.getRouter();
  app.disable('x-powered-by');
  return {
    handle: app,
    close: async () => {
      await Promise.all(queues.map((queue) => queue.close().catch(() => undefined)));
    },
  };
};
