import { setTimeout as pause } from 'node:timers/promises';
import { AppError, type FindAnchor, type FindEvidence, publicId, type Reader, type StoredCheck } from '@vat/domain';
import { type CertificateInput, certificatePdf } from '@vat/evidence';
import { create as contentDisposition } from 'content-disposition';
import type { RequestHandler } from 'express';
import type { InTurn, TurnLimits } from '../few-at-a-time.js';
import { callerOf, readerOf } from '../http/context.js';
import { goneOf } from '../http/gone-of.js';
import { ownedId } from '../http/owned-id.js';

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
const MOST_WAITING = 20;
const BUSY_S = 1;

/** A page keeps the process busy; for half as long, up to this, it rests from those of the account. Milliseconds. */
const LONGEST_REST_MS = 50;

/** How the certificates of one account wait for each other. */
export const CERTIFICATE_TURNS: TurnLimits = {
  waiting: {
    most: MOST_WAITING,
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
