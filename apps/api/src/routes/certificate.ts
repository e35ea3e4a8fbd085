import { AppError, type FindAnchor, type FindEvidence, publicId, type StoredCheck } from '@vat/domain';
import { type CertificateInput, certificatePdf } from '@vat/evidence';
import { create as contentDisposition } from 'content-disposition';
import type { RequestHandler } from 'express';
import type { InTurn } from '../few-at-a-time.js';
import { callerOf } from '../http/context.js';
import { ownedId } from '../http/owned-id.js';

export type CertificateDeps = {
  findCheck: (id: string, accountId: string) => Promise<StoredCheck | null>;
  findEvidence: FindEvidence;
  findAnchor: FindAnchor;
  /** Setting a page keeps the process busy; those of one account come one after the other. */
  certificateInTurn: InTurn;
  baseUrl: () => string;
  now: () => Date;
};

/** GET /v1/checks/{id}/certificate.pdf. A test check's is marked as such. */
export const showCertificate =
  ({ findCheck, findEvidence, findAnchor, certificateInTurn, baseUrl, now }: CertificateDeps): RequestHandler =>
  async (req, res) => {
    const id = ownedId('check', req.params.id);
    const { accountId } = callerOf(res);
    const check = await findCheck(id, accountId);
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
    const page = await certificateInTurn(accountId, () => certificatePdf(input));
    res.type('application/pdf');
    res.setHeader('Content-Disposition', contentDisposition(`${publicId('check', id)}.pdf`, { type: 'inline' }));
    res.setHeader('Cache-Control', 'no-store');
    res.end(page);
  };
