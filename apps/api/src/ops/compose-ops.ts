import { createHash, timingSafeEqual } from 'node:crypto';
import { type Database, forgetSignIns, reserveSignIn } from '@vat/db';
import { AppError, secondsUntil } from '@vat/domain';
import { createQueueBoard, type QueueBoard } from '@vat/queues';
import type { SettingsOf } from '@vat/runtime';
import { type RequestHandler, Router } from 'express';
import { sessionTokens } from '../dashboard/session.js';
import { networkOf } from '../http/client-network.js';
import { readOnly } from '../http/resource.js';
import { secure } from '../http/secure.js';

/** The password of an `Authorization: Basic` header, whatever the user name; null when there is none. Source: RFC 7617. */
const readBasicPassword = (header: string | undefined): string | null => {
  const encoded = /^basic +([a-z0-9+/]+=*) *$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? null : text.slice(colon + 1);
};

/** How many wrong passwords one network may try, over all API processes. */
export const OPS_LIMIT = { tries: 10, windowMs: 15 * 60_000 } as const;

/** Requests of a network that gave the right password are not counted for this long: one page of the board needs thirty. */
const KNOWN_MS = 5 * 60_000;

const CHALLENGE = 'Basic realm="VAT Validation Service operations", charset="UTF-8"';

type RequireOpsPasswordDeps = {
  password: string;
  /** The form in which a network with wrong tries is stored. */
  hashNetwork: (network: string) => Uint8Array;
  /** Counts an attempt before its password is verified. Returns `null`, or when the limit is reached, the time of the next attempt. */
  reserve: (network: Uint8Array, now: Date) => Promise<Date | null>;
  /** Deletes the counted attempts. */
  forget: (network: Uint8Array) => Promise<void>;
  now: () => Date;
};

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Requires the operator's password by basic auth, with any user name; sessions and API keys are not accepted. Throws
 * UNAUTHORIZED with a challenge, or TOO_MANY_SIGN_INS after too many wrong passwords from a network, then also for the right one.
 */
const requireOpsPassword = ({
  password,
  hashNetwork,
  reserve,
  forget,
  now,
}: RequireOpsPasswordDeps): RequestHandler => {
  const wanted = sha256(password);
  /** Until when requests of a network are not counted after the right password. A wrong password ends that. */
  const known = new Map<string, number>();
  return async (req, res, next) => {
    const refuse = (message: string): never => {
      res.setHeader('WWW-Authenticate', CHALLENGE);
      throw new AppError('UNAUTHORIZED', { message });
    };
    const given = readBasicPassword(req.get('authorization'));
    if (given === null) return refuse('Give the password of OPS_PASSWORD by basic auth.');
    const network = networkOf(req.ip ?? '');
    const at = now();
    // Hashed to the same length, so that they can be compared in constant time.
    const isRight = timingSafeEqual(sha256(given), wanted);
    if (isRight && (known.get(network) ?? 0) > at.getTime()) return next();
    known.delete(network);
    const key = hashNetwork(network);
    const free = await reserve(key, at);
    if (free) {
      throw new AppError('TOO_MANY_SIGN_INS', {
        message: 'Too many wrong passwords from this network.',
        extra: { retry_after: secondsUntil(free, at, OPS_LIMIT.windowMs) },
      });
    }
    if (!isRight) return refuse('The password is wrong.');
    await forget(key);
    known.set(network, at.getTime() + KNOWN_MS);
    next();
  };
};

/** The settings of the operations page. */
type OpsSettings = SettingsOf<'api', 'OPS_PASSWORD' | 'SECRET_KEY' | 'REDIS_PREFIX'>;

type OpsServices = {
  db: Database;
  redis: Parameters<typeof createQueueBoard>[0];
  baseUrl: () => string;
  /** Called when the queues cannot be read. */
  onError: (error: Error) => void;
  now: () => Date;
};

/**
 * Composes the routes below /ops: a read-only view of the queues for operators who know OPS_PASSWORD. Without that setting
 * `routes` is null and the path does not exist.
 */
export const composeOps = (
  settings: OpsSettings,
  { db, redis, baseUrl, onError, now }: OpsServices,
): { routes: Router | null; close: () => Promise<void> } => {
  const password = settings.OPS_PASSWORD;
  if (password === undefined) return { routes: null, close: async () => undefined };
  const { hashAddress } = sessionTokens(settings.SECRET_KEY);
  let board: Promise<QueueBoard> | null = null;
  // Created on the first request, since the base URL is known only once the server listens.
  const openBoard = (): Promise<QueueBoard> => {
    const basePath = `${new URL(baseUrl()).pathname.replace(/\/+$/, '')}/ops`;
    board ??= createQueueBoard(redis, settings.REDIS_PREFIX, { basePath, onError });
    return board;
  };
  const routes = Router();
  routes.use(
    secure('operations'),
    readOnly,
    requireOpsPassword({
      password,
      hashNetwork: (network) => hashAddress(`\0ops from\0${network}`),
      reserve: reserveSignIn(db, OPS_LIMIT),
      forget: forgetSignIns(db),
      now,
    }),
    async (req, res, next) => {
      // The board would wait without limit for a Redis connection that was never established.
      if (redis.status !== 'ready') return void res.status(503).type('text').send('Redis is away. Try again soon.\n');
      (await openBoard()).handle(req, res, next);
    },
  );
  return { routes, close: async () => (await board)?.close() };
};
