import { createHash } from 'node:crypto';
import type { Caller, SignedIn } from '@vat/db';
import { AppError, type IdKind, type Reader, readVatNumber, uuidOf } from '@vat/domain';
import { canonicalForm } from '@vat/evidence';
import type { Logger } from '@vat/runtime';
import type { Request, RequestHandler, Response } from 'express';

/** Who is signed in to the dashboard, and the token of the session. */
export type DashboardSession = SignedIn & { token: string };

/** What middleware knows of a request; kept in `res.locals`. */
type Context = { requestId: string; log: Logger; caller?: Caller; session?: DashboardSession };

/** The context of a response. */
export const contextOf = (res: Response): Context => res.locals as Context;

/** The authenticated caller; a route that asks for one without `authenticate` before it is a fault of ours. */
export const callerOf = (res: Response): Caller => {
  const { caller } = contextOf(res);
  if (!caller) throw new Error('a route without authentication asked for its caller');
  return caller;
};

/** Whose rows the caller may read. */
export const readerOf = (res: Response): Reader => {
  const { accountId, test } = callerOf(res);
  return { accountId, testOnly: test };
};

const KEY_FORM = /^[\x20-\x7e]{1,255}$/;

/**
 * The Idempotency-Key as it is kept, `null` without one; throws BAD_REQUEST when it is not 1 to 255 printable characters.
 * Test and live calls of an account are kept apart: a live call must never be answered with what the sandbox said.
 */
export const idempotencyKeyOf = (req: Request, caller: Pick<Caller, 'test'>): string | null => {
  const key = req.get('idempotency-key');
  if (key === undefined) return null;
  if (KEY_FORM.test(key)) return `${caller.test ? 'test' : 'live'}:${key}`;
  const message = 'Idempotency-Key is 1 to 255 printable ASCII characters';
  throw new AppError('BAD_REQUEST', {
    message: `${message}.`,
    extra: { fields: [{ path: 'Idempotency-Key', message }] },
  });
};

/** The stored id behind one in a path; ill-formed is answered like unknown (contract part 2 §1). */
export const ownedId = (kind: IdKind, id: string | string[] | undefined): string => {
  const uuid = typeof id === 'string' ? uuidOf(kind, id) : null;
  if (uuid === null) throw new AppError('NOT_FOUND');
  return uuid;
};

/** The path of a call's route with its ids, however the caller spelt it: `/V1/Checks/` is `/v1/checks`. */
const pathOf = ({ route, params }: Pick<Request, 'route' | 'params'>): string =>
  String(route.path).replace(/:(\w+)/g, (_name, id: string) => String(params[id]));

/**
 * The fingerprint of a call for its Idempotency-Key: method, path and parsed body, whatever the order of its keys and its
 * white space. Take the body as its schema read it: a raw one may hold what has no canonical form.
 */
export const fingerprintOf = (req: Pick<Request, 'method' | 'route' | 'params'>, body: object): Buffer =>
  createHash('sha256')
    .update(`${req.method} ${pathOf(req)}\n`)
    .update(canonicalForm(body))
    .digest();

/** A number as it is stored, however it was spelt; a text that is none finds nothing. */
export const normalizeNumber = (vatNumber: string): string => {
  const read = readVatNumber(vatNumber);
  return read.kind === 'unresolvable' ? vatNumber : read.vatNumber;
};

/** What a call passes before its route, in the order of judgement: who calls, and whether it may change something. */
export type Gates = { reading: RequestHandler[]; changing: RequestHandler[] };
