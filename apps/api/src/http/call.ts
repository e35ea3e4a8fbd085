import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Caller, SignedIn } from '@vat/db';
import {
  AppError,
  badRequest,
  ERROR_CATALOGUE,
  type ErrorCode,
  type IdKind,
  type Reader,
  readVatNumber,
  type StoredId,
  uuidOf,
} from '@vat/domain';
import { canonicalForm } from '@vat/evidence';
import type { Logger } from '@vat/runtime';
import type { Request, Response } from 'express';

/** The signed-in user of the dashboard and the token of the session. */
export type DashboardSession = SignedIn & { token: string };

/**
 * What middleware has found out about a request; stored in `res.locals`. `traceparent`: of its span, absent while traces are off.
 * `errorCode`: of the error that it was answered with. `limitsBody`: the route limits the time for the body itself, from when it
 * begins to read it; Node counts from the headers.
 */
type Context = {
  requestId: string;
  log: Logger;
  traceparent?: string | undefined;
  errorCode?: ErrorCode;
  limitsBody?: true;
  caller?: Caller;
  session?: DashboardSession;
  /** Finds the caller again; throws what a new call would get. */
  findCaller?: () => Promise<Caller>;
};

/** The context of a response. */
export const contextOf = (res: Response): Context => res.locals as Context;

const WELL_FORMED = /^[A-Za-z0-9._:-]{1,128}$/;

/** The caller's X-Request-Id if it is well-formed, else a new one. */
export const requestIdOf = ({ headers }: Pick<IncomingMessage, 'headers'>): string => {
  const given = headers['x-request-id'];
  return typeof given === 'string' && WELL_FORMED.test(given) ? given : randomUUID();
};

/** The caller left before it got a status. It is no status of HTTP; proxies write it in their logs. */
const CALLER_LEFT = 499;

/**
 * The status with which an ended request is logged and counted. That of the response is 200 until something is sent, and stays
 * 200 when an error breaks a file off after its first byte.
 */
export const countedStatusOf = (res: Response): number => {
  const { errorCode } = contextOf(res);
  if (errorCode) return ERROR_CATALOGUE[errorCode].status;
  return res.headersSent ? res.statusCode : CALLER_LEFT;
};

const withoutCaller = () => new Error('the route has no caller: authenticate did not run before it');

/** The authenticated caller. Throws when `authenticate` did not run before the route, which is a programming error. */
export const callerOf = (res: Response): Caller => {
  const { caller } = contextOf(res);
  if (!caller) throw withoutCaller();
  return caller;
};

/**
 * The caller as of now, for a call that takes long: throws UNAUTHORIZED or FORBIDDEN when its key was revoked, or its session or
 * role has ended, since the call began.
 */
export const callerAgain = async (res: Response): Promise<Caller> => {
  const context = contextOf(res);
  if (!context.findCaller) throw withoutCaller();
  context.caller = await context.findCaller();
  return context.caller;
};

/** Whose rows the caller may read. */
export const readerOf = (res: Response): Reader => {
  const { accountId, test } = callerOf(res);
  return { accountId, testOnly: test };
};

const KEY_FORM = /^[\x20-\x7e]{1,255}$/;

/**
 * The Idempotency-Key in its stored form, `null` without one. Throws BAD_REQUEST when it is not 1 to 255 printable characters.
 * Keys of test and live calls are separate: a live call must never be answered with a result of the sandbox.
 */
export const idempotencyKeyOf = (req: Request, caller: Pick<Caller, 'test'>): string | null => {
  const key = req.get('idempotency-key');
  if (key === undefined) return null;
  if (KEY_FORM.test(key)) return `${caller.test ? 'test' : 'live'}:${key}`;
  throw badRequest('Idempotency-Key', 'Idempotency-Key is 1 to 255 printable ASCII characters');
};

/** The stored id of a public id in a path. Throws NOT_FOUND for an ill-formed one, as for an unknown one. */
export const ownedId = <Kind extends IdKind>(kind: Kind, id: string | string[] | undefined): StoredId<Kind> => {
  const uuid = typeof id === 'string' ? uuidOf(kind, id) : null;
  if (uuid === null) throw new AppError('NOT_FOUND');
  return uuid;
};

/** The row that was looked up. Throws NOT_FOUND when there is none. */
export const found = <Row>(row: Row | null): Row => {
  if (row === null) throw new AppError('NOT_FOUND');
  return row;
};

/** The path of a call in the spelling of its route, with its ids: `/V1/Checks/` becomes `/v1/checks`. */
const pathOf = ({ route, params }: Pick<Request, 'route' | 'params'>): string =>
  String(route.path).replace(/:(\w+)/g, (_name, id: string) => String(params[id]));

/**
 * The fingerprint of a call for its Idempotency-Key: a hash of method, path and parsed body. The order of keys and white space
 * do not matter. Pass the body as parsed by its schema: a raw one may contain values that have no canonical form.
 */
export const fingerprintOf = (req: Pick<Request, 'method' | 'route' | 'params'>, body: object): Buffer =>
  createHash('sha256')
    .update(`${req.method} ${pathOf(req)}\n`)
    .update(canonicalForm(body))
    .digest();

/** A VAT number in its stored form. A text that is not a VAT number is returned unchanged and matches nothing. */
export const normalizeNumber = (vatNumber: string): string => {
  const read = readVatNumber(vatNumber);
  return read.kind === 'unresolvable' ? vatNumber : read.vatNumber;
};
