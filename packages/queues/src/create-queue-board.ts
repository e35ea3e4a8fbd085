import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RedisConnection } from './connect-redis.js';
import { QUEUES } from './job-catalogue.js';
import { closeQueues, openQueue } from './open-queue.js';

/** The board as an Express handler, to be mounted at `basePath`. */
export type QueueBoard = {
  handle: (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void;
  close: () => Promise<void>;
};

type QueueBoardOptions = {
  /** The public path of the board, without a trailing slash; the paths on its page begin with it. */
  basePath: string;
  /** Called with the reason of a failed request; the response contains no details. */
  onError: (error: Error) => void;
};

const TITLE = 'VAT queues';

/**
 * A page that shows the waiting, delayed and running jobs of every queue (jobs carry ids, never documents). It is read-only:
 * rows are the record, and a job that is retried or deleted by hand would contradict its row. Callers must let only GET
 * requests through. bull-board is loaded on call and not on import, since most processes never show the board.
 */
export const createQueueBoard = async (
  connection: RedisConnection,
  prefix: string,
  { basePath, onError }: QueueBoardOptions,
): Promise<QueueBoard> => {
  const [{ createBullBoard }, { BullMQAdapter }, { ExpressAdapter }] = await Promise.all([
    import('@bull-board/api'),
    import('@bull-board/api/bullMQAdapter'),
    import('@bull-board/express'),
  ]);
  // The board writes nothing to Redis; the producer sets the metadata of a queue.
  const options = { connection, prefix, skipMetasUpdate: true };
  const queues = Object.values(QUEUES).map(({ name }) => openQueue(name, options));
  const serverAdapter = new ExpressAdapter().setBasePath(basePath);
  createBullBoard({
    queues: queues.map(
      (queue) => new BullMQAdapter(queue, { readOnlyMode: true, displayName: queue.name.replace(/[{}]/g, '') }),
    ),
    serverAdapter,
    options: { uiConfig: { boardTitle: TITLE } },
  });
  // The library's default response contains the stack trace.
  serverAdapter.setErrorHandler((error) => {
    onError(error);
    return { status: 500, body: { error: 'The queues cannot be read.' } };
  });
  const app = serverAdapter.getRouter();
  app.disable('x-powered-by');
  return { handle: app, close: () => closeQueues(queues) };
};
