import { checkListQuery, checkRequestBody, presentAcceptance, presentCheck } from '@vat/contracts';
import type { CheckFilter } from '@vat/db';
import {
  AppError,
  type CheckCall,
  type CheckCallResult,
  type FindEvidence,
  publicCheck,
  publicId,
  type Reader,
  type StoredAnswer,
  type StoredCheck,
} from '@vat/domain';
import { errorFields } from '@vat/runtime';
import type { Request, RequestHandler, Response } from 'express';
import { jsonAnswer, sendAnswer } from '../http/answer.js';
import {
  callerOf,
  contextOf,
  fingerprintOf,
  idempotencyKeyOf,
  normalizeNumber,
  ownedId,
  readerOf,
} from '../http/call.js';
import { ownerOf, parse, parseQuery, readPage } from '../http/parse.js';

export type CheckRoutesDeps = {
  requestCheck: (call: CheckCall) => Promise<CheckCallResult>;
  storeAnswer: (accountId: string, key: string, answer: StoredAnswer) => Promise<void>;
  findCheck: (id: string, reader: Reader) => Promise<StoredCheck | null>;
  listChecks: (reader: Reader, filter: CheckFilter, beforeId: string | null, limit: number) => Promise<StoredCheck[]>;
  findEvidence: FindEvidence;
  baseUrl: () => string;
};

/** Seconds after which polling a pending request is worth a call. */
const POLL_AFTER_S = 5;

const answerOf = (result: Exclude<CheckCallResult, { kind: 'replay' }>, baseUrl: string): StoredAnswer => {
  if (result.kind === 'checked') {
    const location = `${baseUrl}/v1/checks/${publicId('check', result.check.id)}`;
    return jsonAnswer(201, publicCheck(result.check), { Location: location });
  }
  const body = presentAcceptance(result.request, baseUrl);
  return jsonAnswer(202, body, { Location: body.poll_url, 'Retry-After': String(POLL_AFTER_S) });
};

/** The routes of /v1/checks. */
export const checkRoutes = (deps: CheckRoutesDeps) => {
  const create: RequestHandler = async (req, res) => {
    const caller = callerOf(res);
    const body = parse(checkRequestBody, req.body);
    const key = idempotencyKeyOf(req, caller);
    const result = await deps.requestCheck({
      caller,
      vatNumber: body.vat_number,
      countryCode: body.country_code,
      requester: body.requester_vat_number,
      reference: body.reference,
      trader:
        body.trader &&
        (Object.fromEntries(
          Object.entries(body.trader).filter(([, text]) => text !== undefined),
        ) as CheckCall['trader']),
      idempotency: key === null ? null : { key, fingerprint: fingerprintOf(req, body) },
    });
    if (result.kind === 'replay') return sendAnswer(res, result.answer, true);
    const answer = answerOf(result, deps.baseUrl());
    if (key !== null) {
      // The work is bound to the key: if these bytes cannot be kept, a replay is made from how the work stands then.
      await deps.storeAnswer(caller.accountId, key, answer).catch((error: unknown) => {
        contextOf(res).log.warn('An idempotent answer was not kept.', errorFields(error));
      });
    }
    sendAnswer(res, answer, result.replayed);
  };

  const list: RequestHandler = async (req, res) => {
    const reader = readerOf(res);
    const { limit, cursor, vat_number: vatNumber, ...others } = parseQuery(checkListQuery, req.query);
    const filter = { ...others, vatNumber: vatNumber && normalizeNumber(vatNumber) };
    const { rows, nextCursor } = await readPage(
      { limit, cursor },
      ['checks', ownerOf(reader), filter],
      (before, most) => deps.listChecks(reader, filter, before, most),
    );
    const evidence = await deps.findEvidence(rows.map(({ id }) => id));
    res.json({ data: rows.map((check) => presentCheck(check, evidence.get(check.id))), next_cursor: nextCursor });
  };

  const find = async (req: Request, res: Response): Promise<StoredCheck> => {
    const check = await deps.findCheck(ownedId('check', req.params.id), readerOf(res));
    if (!check) throw new AppError('NOT_FOUND');
    return check;
  };

  const show: RequestHandler = async (req, res) => {
    const check = await find(req, res);
    res.json(presentCheck(check, (await deps.findEvidence([check.id])).get(check.id)));
  };

  const evidence: RequestHandler = async (req, res) => {
    const { bytes } = await find(req, res);
    res.type('application/json').end(Buffer.from(bytes));
  };

  return { create, list, show, evidence };
};
