import { createHash, timingSafeEqual } from 'node:crypto';
import { type Database, forgetSignIns, reserveSignIn } from '@vat/db';
import { AppError } from '@vat/domain';
import { createQueueBoard, type QueueBoard } from '@vat/queues';
import type { readSettings } from '@vat/runtime';
import { type RequestHandler, Router } from 'express';
import { networkOf } from '../dashboard/client-network.js';
import { sessionTokens } from '../dashboard/session.js';
import { secondsUntil } from '../dashboard/sign-in.js';
import { secure } from '../http/secure.js';

/** The password of an `Authorization: Basic` header, whatever the user name; null when there is none. Source: RFC 7617. */
const readBasicPassword = (header: string | undefined): string | null => {
  const encoded = /^basic +([a-z0-9+/]+=*) *$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 0 ? null : text.slice(colon + 1);
};

/** Wrong passwords that one network may try, over all API processes. */
export const OPS_LIMIT = { tries: 10, windowMs: 15 * 60_000 } as const;

/** A network that gave the right password is not counted anew for this long: a page of the board is thirty requests. */
const KNOWN_MS = 5 * 60_000;

const CHALLENGE = 'Basic realm="VAT Validation Service operations", charset="UTF-8"';

type RequireOpsPasswordDeps = {
  password: string;
  /** The form in which a network with wrong tries is stored. */
  hashNetwork: (network: string) => Uint8Array;
  /** Counts a try before it is judged; `null` when it may be, else when the next one may. */
  reserve: (network: Uint8Array, now: Date) => Promise<Date | null>;
  /** Takes back what was counted. */
  forget: (network: Uint8Array) => Promise<void>;
  now: () => Date;
};

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Lets pass who gives the operator's password by basic auth, with any user name; no session and no key does. Throws
 * UNAUTHORIZED with a challenge, or TOO_MANY_SIGN_INS once a network has tried too many wrong ones, also for the right one.
 */
const requireOpsPassword = ({
  password,
  hashNetwork,
  reserve,
  forget,
  now,
}: RequireOpsPasswordDeps): RequestHandler => {
  const wanted = sha256(password);
  /** Networks that gave the right password, and until when they need not be counted. A wrong try ends that. */
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
    // Of one length, so that they can be compared in constant time.
    const isRight = timingSafeEqual(sha256(given), wanted);
    if (isRight && (known.get(network) ?? 0) > at.getTime()) return next();
    known.delete(network);
    const key = hashNetwork(network);
    const free = await reserve(key, at);
    if (free) {
      throw new AppError('TOO_MANY_SIGN_INS', {
        message: 'Too many wrong passwords from this network.',
        extra: { retry_after: secondsUntil(free, at) },
      });
    }
    if (!isRight) return refuse('The password is wrong.');
    await forget(key);
    known.set(network, at.getTime() + KNOWN_MS);
    next();
  };
};

/** The settings of the operator's page. */
export const OPS_SETTINGS = ['OPS_PASSWORD', 'SECRET_KEY', 'REDIS_PREFIX'] as const;
type OpsSettings = ReturnType<typeof readSettings<(typeof OPS_SETTINGS)[number]>>;

type OpsServices = {
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
