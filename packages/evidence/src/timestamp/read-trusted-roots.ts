import { type ReadCertificate, readCertificate } from './read-certificate.js';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/**
 * The certificates of PEM texts, each with one or more of them and whatever lies between. Throws an Error for a text
 * without any: a root that is not read would be a root that is not asked for.
 */
export const readTrustedRoots = (texts: readonly string[]): ReadCertificate[] =>
  texts.flatMap((text) => {
    const found = text.match(CERTIFICATE);
    if (!found) throw new Error('a trusted root holds no PEM certificate (its text is wanted, not a path)');
    return found.map((pem) => readCertificate(pem));
  });
