import { type CHECK_OPERATIONS, presentAcceptance, presentCheck, presentRequest } from '@vat/contracts';
import type { CheckFilter } from '@vat/db';
import {
  AppError,
  type CheckCall,
  type CheckCallResult,
  type CheckEvidence,
  type FindEvidence,
  type FindRequest,
  publicId,
  type Reader,
  type StoredCheck,
  type StoredId,
} from '@vat/domain';
import { contextOf, found, normalizeNumber } from '../http/call.js';
import { ownerOf, readPage } from '../http/parse.js';
import type { Routes } from '../http/route.js';

export type CheckRoutesDeps = {
  requestCheck: (call: CheckCall) => Promise<CheckCallResult>;
  findCheck: (id: StoredId<'check'>, reader: Reader) => Promise<StoredCheck | null>;
  findCheckWithEvidence: (
    id: StoredId<'check'>,
    reader: Reader,
  ) => Promise<(StoredCheck & { evidence: CheckEvidence }) | null>;
  listChecks: (reader: Reader, filter: CheckFilter, beforeId: string | null, limit: number) => Promise<StoredCheck[]>;
  findRequest: FindRequest;
  findEvidence: FindEvidence;
  /** The URL of the public page of a check; null when public verification is off. */
  publicLinkOf: ((id: StoredId<'check'>) => Promise<string>) | null;
  baseUrl: () => string;
};

/** Seconds after which polling a pending request is worth a call. */
const POLL_AFTER_S = 5;

/** The routes of /v1/checks and /v1/requests. */
export const checkRoutes = (deps: CheckRoutesDeps): Pick<Routes, keyof typeof CHECK_OPERATIONS> => {
  const present = async (check: StoredCheck) =>
    presentCheck(check, (await deps.findEvidence([check.id])).get(check.id));

  return {
    createCheck: async ({ res, caller, body, idempotencyOf }) => {
      const trader = body.trader && Object.entries(body.trader).filter(([, text]) => text !== undefined);
      const result = await deps.requestCheck({
        caller,
        vatNumber: body.vat_number,
        countryCode: body.country_code,
        requester: body.requester_vat_number,
        reference: body.reference,
        trader: trader && (Object.fromEntries(trader) as CheckCall['trader']),
        idempotency: idempotencyOf(body),
        traceparent: contextOf(res).traceparent,
      });
      if (result.kind === 'replay') return { answer: result.answer, replayed: true };
      const { replayed } = result;
      if (result.kind === 'checked') {
        const headers = { Location: `${deps.baseUrl()}/v1/checks/${publicId('check', result.check.id)}` };
        return { status: 201, body: presentCheck(result.check, undefined), headers, replayed };
      }
      const accepted = presentAcceptance(result.request, deps.baseUrl());
      const headers = { Location: accepted.poll_url, 'Retry-After': String(POLL_AFTER_S) };
      return { status: 202, body: accepted, headers, replayed };
    },

    listChecks: async ({ reader, query: { limit, cursor, vat_number: vatNumber, ...others } }) => {
      const filter = { ...others, vatNumber: vatNumber && normalizeNumber(vatNumber) };
      const list = ['checks', ownerOf(reader), filter] as const;
      const { rows, nextCursor } = await readPage({ limit, cursor }, list, (before, max) =>
        deps.listChecks(reader, filter, before, max),
      );
      const evidence = await deps.findEvidence(rows.map(({ id }) => id));
      const data = rows.map((check) => presentCheck(check, evidence.get(check.id)));
      return { status: 200, body: { data, next_cursor: nextCursor } };
    },

    getCheck: async ({ id, reader }) => {
      const { evidence, ...check } = found(await deps.findCheckWithEvidence(id, reader));
      return { status: 200, body: presentCheck(check, evidence) };
    },

    getCheckEvidence: async ({ id, reader }) => ({ status: 200, bytes: found(await deps.findCheck(id, reader)).bytes }),

    getCheckLink: async ({ id, reader }) => {
      if (!deps.publicLinkOf)
        throw new AppError('NOT_FOUND', { message: 'Public verification is off on this service.' });
      found(await deps.findCheck(id, reader));
      return { status: 200, body: { url: await deps.publicLinkOf(id) } };
    },

    getRequest: async ({ id, reader }) => {
      const { request, check } = found(await deps.findRequest(id, reader));
      // A withdrawn request was refused to its caller, so there is nothing to read.
      if (request.state === 'withdrawn') throw new AppError('NOT_FOUND');
      return { status: 200, body: presentRequest(request, check && (await present(check))) };
    },
  };
};
