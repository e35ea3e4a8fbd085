import { presentTimestamp } from '@vat/contracts';
import {
  AppError,
  type FindCheckStamp,
  type FindToken,
  publicId,
  type Stamp,
  type StampCall,
  type StampCallResult,
  type StoredAnswer,
} from '@vat/domain';
import { errorFields } from '@vat/runtime';
import type { RequestHandler } from 'express';
import { callerOf, contextOf, idempotencyKeyOf } from '../http/context.js';
import { fingerprintOf } from '../http/fingerprint-of.js';
import { jsonAnswer } from '../http/json-answer.js';
import { ownedId } from '../http/owned-id.js';
import { sendAnswer } from '../http/send-answer.js';

export type TimestampRoutesDeps = {
  stampCheck: (call: StampCall) => Promise<StampCallResult>;
  storeAnswer: (accountId: string, key: string, answer: StoredAnswer) => Promise<void>;
  findCheckStamp: FindCheckStamp;
  findToken: FindToken;
  baseUrl: () => string;
};

/** Seconds after which looking for a pending time-stamp is worth a call. */
const LOOK_AFTER_S = 10;

const answerOf = (stamp: Stamp, created: boolean, baseUrl: string): StoredAnswer => {
  const location = `${baseUrl}/v1/checks/${publicId('check', stamp.subjectId)}/timestamp`;
  const body = presentTimestamp(stamp);
  if (body.status === 'pending')
    return jsonAnswer(202, body, { Location: location, 'Retry-After': String(LOOK_AFTER_S) });
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
