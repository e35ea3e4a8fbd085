import { setTimeout as pause } from 'node:timers/promises';
import { presentTimestamp } from '@vat/contracts';
import {
  AppError,
  type FindAnchor,
  type FindCheckStamp,
  type FindEvidence,
  type FindToken,
  publicId,
  type Reader,
  type Stamp,
  type StampCall,
  type StampCallResult,
  type StoredAnswer,
  type StoredCheck,
} from '@vat/domain';
import { type CertificateInput, certificatePdf } from '@vat/evidence';
import { errorFields } from '@vat/runtime';
import { create as contentDisposition } from 'content-disposition';
import type { RequestHandler } from 'express';
import { jsonAnswer, sendAnswer } from '../http/answer.js';
import { callerOf, contextOf, fingerprintOf, idempotencyKeyOf, ownedId, readerOf } from '../http/call.js';
import { goneOf } from '../http/connection.js';
import type { InTurn, TurnLimits } from '../turns.js';

export type TimestampRoutesDeps = {
  stampCheck: (call: StampCall) => Promise<StampCallResult>;
  storeAnswer: (accountId: string, key: string, answer: StoredAnswer) => Promise<void>;
  findCheckStamp: FindCheckStamp;
  findToken: FindToken;
  baseUrl: () => string;
};

/** Seconds after which looking for a pending time-stamp is worth a call. */
const POLL_AFTER_S = 10;

const answerOf = (stamp: Stamp, created: boolean, baseUrl: string): StoredAnswer => {
  const location = `${baseUrl}/v1/checks/${publicId('check', stamp.subjectId)}/timestamp`;
  const body = presentTimestamp(stamp);
  if (body.status === 'pending')
    return jsonAnswer(202, body, { Location: location, 'Retry-After': String(POLL_AFTER_S) });
  return created ? jsonAnswer(201, body, { Location: location }) : jsonAnswer(200, body);
};

/** The routes of /v1/checks/{id}/timestamp. */
export const timestampRoutes = (deps: TimestampRoutesDeps) => {
  const create: RequestHandler = async (req, res) => {
    const caller = callerOf(res);
    const checkId = ownedId('check', req.params.id);
    const key = idempotencyKeyOf(req, caller);
    const idempotency = key === null ? null : { key, fingerprint: fingerprintOf(req, {}) };
    const result = await deps.stampCheck({ caller, checkId, idempotency });
    if (result.kind === 'replay') return sendAnswer(res, result.answer, true);
    const answer = answerOf(result.stamp, result.created, deps.baseUrl());
    if (key !== null) {
      // The row is there: whoever asks again with this key gets an answer from it even if this one could not be kept.
      await deps.storeAnswer(caller.accountId, key, answer).catch((error: unknown) => {
        contextOf(res).log.warn('An idempotent answer was not kept.', errorFields(error));
      });
    }
    sendAnswer(res, answer, false);
  };

  const show: RequestHandler = async (req, res) => {
    const stamp = await deps.findCheckStamp(ownedId('check', req.params.id), callerOf(res).accountId);
    // Whose check it is has to stay open: without a stamp the answer is that of an id that nobody has.
    if (!stamp) throw new AppError('NOT_FOUND');
    if (!stamp.facts)
      throw new AppError('NOT_FOUND', { message: 'The time-stamp was asked for and is not there yet.' });
    res.json(presentTimestamp(stamp));
  };

  const token: RequestHandler = async (req, res) => {
    const found = await deps.findToken(ownedId('check', req.params.id), callerOf(res).accountId);
    if (!found) throw new AppError('NOT_FOUND');
    res.type('application/timestamp-reply').end(Buffer.from(found));
  };

  return { create, show, token };
};

export type CertificateDeps = {
  findCheck: (id: string, reader: Reader) => Promise<StoredCheck | null>;
  findEvidence: FindEvidence;
  findAnchor: FindAnchor;
  /** Setting a page keeps the process busy; those of one account come one after the other. */
  certificateInTurn: InTurn;
  baseUrl: () => string;
  now: () => Date;
};

/** Certificates of an account that wait, each for about a twelfth of a second; ten calls a second never fill it. */
const MAX_WAITING = 20;
const BUSY_S = 1;

/** A page keeps the process busy; for half as long, up to this, it rests from those of the account. Milliseconds. */
const LONGEST_REST_MS = 50;

/** How the certificates of one account wait for each other. */
export const CERTIFICATE_TURNS: TurnLimits = {
  waiting: {
    most: MAX_WAITING,
    refuse: () =>
      new AppError('RATE_LIMITED', {
        message: 'Too many certificates of the account are being made at this moment.',
        extra: { retry_after: BUSY_S },
      }),
  },
};

const drawPage = async (input: CertificateInput): Promise<Uint8Array> => {
  const begunAt = performance.now();
  const page = await certificatePdf(input);
  await pause(Math.min(LONGEST_REST_MS, (performance.now() - begunAt) / 2));
  return page;
};

/** GET /v1/checks/{id}/certificate.pdf. A test check's is marked as such. */
export const showCertificate =
  ({ findCheck, findEvidence, findAnchor, certificateInTurn, baseUrl, now }: CertificateDeps): RequestHandler =>
  async (req, res) => {
    const id = ownedId('check', req.params.id);
    const { accountId } = callerOf(res);
    const check = await findCheck(id, readerOf(res));
    if (!check) throw new AppError('NOT_FOUND');
    const evidence = (await findEvidence([id])).get(id);
    const place = evidence?.anchor ?? null;
    const anchor = place && (await findAnchor(place.anchorId));
    const input: CertificateInput = {
      check,
      issuedAt: now(),
      serviceUrl: baseUrl(),
      timestamp: evidence?.stamp ?? null,
      anchor: anchor && place && { ...anchor, leafIndex: place.leafIndex },
    };
    const page = await certificateInTurn(accountId, () => drawPage(input), goneOf(res));
    res.type('application/pdf');
    res.setHeader('Content-Disposition', contentDisposition(`${publicId('check', id)}.pdf`, { type: 'inline' }));
    res.setHeader('Cache-Control', 'no-store');
    res.end(page);
  };
