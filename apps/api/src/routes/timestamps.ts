import { setTimeout as pause } from 'node:timers/promises';
import { presentTimestamp } from '@vat/contracts';
import {
  AppError,
  type FindAnchor,
  type FindCheckStamp,
  type FindToken,
  type ProveChecks,
  publicId,
  type StampCall,
  type StampCallResult,
  type StampFacts,
  type StoredId,
} from '@vat/domain';
import type { AnchorWithProof, CertificateInput, StampWithToken } from '@vat/evidence';
import { create as contentDisposition } from 'content-disposition';
import { found } from '../http/call.js';
import { goneOf } from '../http/connection.js';
import type { Routes } from '../http/route.js';
import type { InTurn, TurnLimits } from '../turns.js';
import type { CheckRoutesDeps } from './checks.js';

export type TimestampRoutesDeps = Pick<CheckRoutesDeps, 'findCheck' | 'findEvidence' | 'publicLinkOf' | 'baseUrl'> & {
  stampCheck: (call: StampCall) => Promise<StampCallResult>;
  findCheckStamp: FindCheckStamp;
  findToken: FindToken;
  findAnchor: FindAnchor;
  prove: ProveChecks;
  drawCertificate: (input: CertificateInput) => Promise<Uint8Array>;
  /** Drawing a page occupies the process, so the pages of one account are drawn one after the other. */
  certificateInTurn: InTurn;
  now: () => Date;
};

/** Seconds after which polling a pending time-stamp is worth a call. */
const POLL_AFTER_S = 10;

/** Certificates of an account that may wait. Each takes about a thirtieth of a second, so ten calls a second never reach it. */
const MAX_WAITING = 20;
const BUSY_S = 1;

/** After a page, those of its account pause for half the time that it took, up to this. Milliseconds. */
const MAX_PAUSE_MS = 50;

/** The limit of waiting certificates of one account. */
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

const pausing = async <T>(draw: () => Promise<T>): Promise<T> => {
  const begunAt = performance.now();
  const page = await draw();
  await pause(Math.min(MAX_PAUSE_MS, (performance.now() - begunAt) / 2));
  return page;
};

type ProofDeps = Pick<TimestampRoutesDeps, 'findEvidence' | 'findAnchor' | 'findToken' | 'prove'>;

/** Reads what a certificate shows and contains of the proof of a check. What is made meanwhile may be missing. */
const readProof = async (
  { findEvidence, findAnchor, findToken, prove }: ProofDeps,
  id: StoredId<'check'>,
  accountId: string,
): Promise<Pick<CertificateInput, 'timestamp' | 'anchor'>> => {
  const withToken = async (
    facts: StampFacts | null,
    subjectId: string,
    ownerId: string | null,
  ): Promise<StampWithToken | null> => {
    const token = facts && (await findToken(subjectId, ownerId));
    return token && { ...facts, token };
  };
  const readAnchor = async (anchorId: string): Promise<AnchorWithProof | null> => {
    const [anchor, proof] = await Promise.all([findAnchor(anchorId), prove([id]).then((proofs) => proofs.get(id))]);
    return anchor && proof ? { ...anchor, proof, stamp: await withToken(anchor.stamp, anchorId, null) } : null;
  };
  const evidence = (await findEvidence([id])).get(id);
  const [timestamp, anchor] = await Promise.all([
    withToken(evidence?.stamp ?? null, id, accountId),
    evidence?.anchor ? readAnchor(evidence.anchor.anchorId) : null,
  ]);
  return { timestamp, anchor };
};

/** The routes below /v1/checks/{id} for the time-stamp and the certificate of a check. */
export const timestampRoutes = (
  deps: TimestampRoutesDeps,
): Pick<Routes, 'createTimestamp' | 'getTimestamp' | 'getTimestampToken' | 'getCertificate'> => ({
  createTimestamp: async ({ id: checkId, caller, idempotencyOf }) => {
    const result = await deps.stampCheck({ caller, checkId, idempotency: idempotencyOf({}) });
    if (result.kind === 'replay') return { answer: result.answer, replayed: true };
    const Location = `${deps.baseUrl()}/v1/checks/${publicId('check', checkId)}/timestamp`;
    const body = presentTimestamp(result.stamp);
    if (body.status === 'pending')
      return { status: 202, body, headers: { Location, 'Retry-After': String(POLL_AFTER_S) } };
    return result.created ? { status: 201, body, headers: { Location } } : { status: 200, body };
  },

  getTimestamp: async ({ id, caller }) => {
    // The check itself is not read: without a time-stamp the response must be that of an unknown id.
    const body = presentTimestamp(found(await deps.findCheckStamp(id, caller.accountId)));
    if (body.status === 'pending')
      throw new AppError('NOT_FOUND', { message: 'The time-stamp was requested and is not there yet.' });
    return { status: 200, body };
  },

  getTimestampToken: async ({ id, caller }) => {
    const token = found(await deps.findToken(id, caller.accountId));
    return { status: 200, bytes: token };
  },

  /** The certificate of a test check is marked as such. */
  getCertificate: async ({ id, caller, reader, query: { lang }, res }) => {
    const check = found(await deps.findCheck(id, reader));
    const input: CertificateInput = {
      check,
      ...(await readProof(deps, id, caller.accountId)),
      language: lang,
      issuedAt: deps.now(),
      serviceUrl: deps.baseUrl(),
      publicUrl: (await deps.publicLinkOf?.(id)) ?? null,
    };
    const draw = () => pausing(() => deps.drawCertificate(input));
    const bytes = await deps.certificateInTurn(caller.accountId, draw, goneOf(res));
    const headers = { 'Content-Disposition': contentDisposition(`${publicId('check', id)}.pdf`, { type: 'inline' }) };
    return { status: 200, bytes, headers };
  },
});
