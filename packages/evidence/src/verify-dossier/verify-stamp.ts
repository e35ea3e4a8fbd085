import { Certificate } from 'pkijs';
import { parseToken } from './parse-token.js';
import { openTokenVerifier, type VerifiedStamp } from './verify-token.js';

/**
 * Verifies one time-stamp with Web Crypto, up to the topmost certificates that it contains: whether those are the ones that
 * the authority publishes is not known. Throws an Error with the reason.
 */
export const verifyStamp = async (token: Uint8Array, stamped: Uint8Array): Promise<VerifiedStamp> => {
  const certificates = parseToken(token).certificates.map((der) => ({ der, fields: Certificate.fromBER(der.slice()) }));
  const isIssued = ({ issuer }: Certificate) => certificates.some(({ fields: { subject } }) => subject.isEqual(issuer));
  const topmost = certificates.filter(({ fields }) => fields.subject.isEqual(fields.issuer) || !isIssued(fields));
  const verify = openTokenVerifier({ trusted: topmost.map(({ der }) => der), intermediates: [] });
  return verify({ token, stamped, isSeal: false });
};
