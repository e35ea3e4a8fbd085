import { type Database, forgetSignIns, reserveSignIn } from '@vat/db';
import { AppError } from '@vat/domain';
import { createQueueBoard, type QueueBoard } from '@vat/queues';
import type { readSettings } from '@vat/runtime';
import { type RequestHandler, Router } from 'express';
import { sessionTokens } from '../dashboard/session-tokens.js';
import { secure } from '../http/secure.js';
import { OPS_LIMIT, requireOpsPassword } from './require-ops-password.js';

/** The settings of the operator's page. */
export const OPS_SETTINGS = ['OPS_PASSWORD', 'SECRET_KEY', 'REDIS_PREFIX'] as const;
type OpsSettings = ReturnType<typeof readSettings<(typeof OPS_SETTINGS)[number]>>;

export type OpsServices = {
  db: Database;
  redis: Parameters<typeof createQueueBoard>[0];
  baseUrl: () => string;
  /** Hears why the queues could not be read. */
  onError: (error: Error) => void;
  now: () => Date;
};

const readingOnly: RequestHandler = (req, res, next) => {
  if (req.method === 'GET' || req.method === 'HEAD') return next();
  res.setHeader('Allow', 'GET, HEAD');
  throw new AppError('METHOD_NOT_ALLOWED', { message: 'This path accepts GET, HEAD.' });
};

/**
 * Puts together what is below /ops: the queues, to be looked at by whoever knows OPS_PASSWORD. `routes` is null without that
 * setting: then there is no such path. Source: contract part 2 §2.
 */
export const composeOps = (
  settings: OpsSettings,
  { db, redis, baseUrl, onError, now }: OpsServices,
): { routes: Router | null; close: () => Promise<void> } => {
  const password = settings.OPS_PASSWORD;
  if (password === undefined) return { routes: null, close: async () => undefined };
  const { hashAddress } = sessionTokens(settings.SECRET_KEY);
  let board: Promise<QueueBoard> | null = null;
  // Made when it is first looked at: only then is the address known by which people come.
  const openBoard = (): Promise<QueueBoard> => {
    const basePath = `${new URL(baseUrl()).pathname.replace(/\/+$/, '')}/ops`;
    board ??= createQueueBoard(redis, settings.REDIS_PREFIX, { basePath, onError });
    return board;
  };
  const routes = Router();
  routes.use(
    secure('operations'),
    readingOnly,
    requireOpsPassword({
      password,
      hashNetwork: (network) => hashAddress(`\0ops from\0${network}`),
      reserve: reserveSignIn(db, OPS_LIMIT),
      forget: forgetSignIns(db),
      now,
    }),
    async (req, res, next) => {
      // A queue whose connection was never up would keep whoever asks waiting.
      if (redis.status !== 'ready') return void res.status(503).type('text').send('Redis is away. Try again soon.\n');
      (await openBoard()).handle(req, res, next);
    },
  );
  return { routes, close: async () => (await board)?.close() };
};
