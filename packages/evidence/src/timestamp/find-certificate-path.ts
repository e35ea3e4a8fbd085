import { BasicConstraints } from 'pkijs';
import { OID } from './object-identifiers.js';
import { extensionOf, type ReadCertificate } from './read-certificate.js';
import { TimestampRefused } from './timestamp-refused.js';

type FindCertificatePath = {
  signer: ReadCertificate;
  /** Certificates that came along; not trusted for that. */
  others: readonly ReadCertificate[];
  /** The path has to end in one of these. Without any it ends wherever it cannot go on. */
  trustedRoots: readonly ReadCertificate[];
  /** When every certificate must have been valid: the time-stamp's time. */
  at: Date;
};

/** Critical extensions that are judged here, or that ask for nothing where no certificate policy is required. */
const UNDERSTOOD: readonly string[] = [
  ...[OID.keyUsage, OID.basicConstraints, OID.extendedKeyUsage, OID.subjectAlternativeName],
  ...[OID.certificatePolicies, OID.policyConstraints, OID.inhibitAnyPolicy],
];

const isSelfSigned = ({ x509 }: ReadCertificate) => x509.checkIssued(x509) && x509.verify(x509.publicKey);

const isValid = ({ x509 }: ReadCertificate, at: Date) =>
  Date.parse(x509.validFrom) <= at.getTime() && at.getTime() <= Date.parse(x509.validTo);

const isUnderstood = ({ fields }: ReadCertificate) =>
  fields.extensions?.every(({ critical, extnID }) => !critical || UNDERSTOOD.includes(extnID)) ?? true;

/** How many authorities may stand between this one and the signer. */
const roomBelow = (authority: ReadCertificate): number => {
  const found = extensionOf(authority, OID.basicConstraints)?.parsedValue;
  const limit = found instanceof BasicConstraints ? found.pathLenConstraint : undefined;
  return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
};

/**
 * The certificates from the signer to the topmost known one, each issued by the next, all valid at `at`. Searches with
 * OpenSSL's judgement of single links and goes through no certificate twice, since hostile ones may issue each other.
 * Throws {@link TimestampRefused} `wrong_chain`: an expired link, a link that does not hold, none of the roots reached.
 */
export const findCertificatePath = ({ signer, others, trustedRoots, at }: FindCertificatePath): ReadCertificate[] => {
  const isTrusted = ({ x509 }: ReadCertificate) => trustedRoots.some((root) => root.x509.raw.equals(x509.raw));
  if (!isValid(signer, at))
    throw new TimestampRefused('wrong_chain', "the signer's certificate was not valid at the time it gives");
  if (!isUnderstood(signer))
    throw new TimestampRefused('wrong_chain', "the signer's certificate has a critical extension we do not know");
  const seen = new Set([signer.x509.fingerprint256]);

  const climb = (path: ReadCertificate[], current: ReadCertificate): ReadCertificate[] | null => {
    if (isTrusted(current)) return path;
    const known = [...trustedRoots, ...others];
    for (const issuer of known) {
      const { x509 } = issuer;
      if (seen.has(x509.fingerprint256) || !x509.ca || !current.x509.checkIssued(x509)) continue;
      if (!isValid(issuer, at) || !isUnderstood(issuer) || roomBelow(issuer) < path.length - 1) continue;
      if (!current.x509.verify(x509.publicKey)) continue;
      seen.add(x509.fingerprint256);
      const whole = climb([...path, issuer], issuer);
      if (whole) return whole;
    }
    if (trustedRoots.length > 0) return null;
    // A namesake of the issuer that came along and did not fit is a broken link, not an end.
    const isTop = isSelfSigned(current) || !known.some(({ x509 }) => x509.subject === current.x509.issuer);
    return isTop ? path : null;
  };

  const path = climb([signer], signer);
  if (!path)
    throw new TimestampRefused(
      'wrong_chain',
      trustedRoots.length > 0
        ? "the signer's certificate does not lead to a trusted root"
        : "the certificate named as the signer's issuer did not issue it, or was not valid then",
    );
  return path;
};
