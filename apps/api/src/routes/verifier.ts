import type { Verifier } from '@vat/evidence';
import type { RequestHandler, Response } from 'express';

export type VerifierRoutesDeps = { readVerifier: () => Promise<Verifier>; baseUrl: () => string };

/** Short: after an upgrade a cached hash and a newly fetched file may differ for so long. */
const MAX_AGE_SECONDS = 60;

/**
 * The routes of /verifier: the program that verifies dossiers, and its SHA-256. Public, since auditors have no key. A dossier's own
 * copy proves nothing about a dossier that somebody forged as a whole.
 */
export const verifierRoutes = ({ readVerifier, baseUrl }: VerifierRoutesDeps) => {
  let reading: Promise<Verifier> | null = null;
  const read = async (): Promise<Verifier> => {
    reading ??= readVerifier();
    try {
      return await reading;
    } catch (error) {
      reading = null; // the next call tries again
      throw error;
    }
  };
  const cacheable = (res: Response, sha256: string) =>
    res.set({
      'Cache-Control': `public, max-age=${MAX_AGE_SECONDS}`,
      ETag: `"${sha256}"`,
      'X-Content-Type-Options': 'nosniff',
    });

  const show: RequestHandler = async (_req, res) => {
    const { fileName, bytes, sha256 } = await read();
    const url = `${baseUrl()}/verifier/${fileName}`;
    cacheable(res, sha256).json({ object: 'verifier', file_name: fileName, sha256, size: bytes.length, url });
  };
  const file: RequestHandler = async (_req, res) => {
    const { fileName, bytes, sha256 } = await read();
    cacheable(res, sha256).attachment(fileName).type('text/x-python; charset=utf-8').send(Buffer.from(bytes));
  };
  return { show, file };
};
