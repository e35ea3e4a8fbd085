import { Null } from 'asn1js';
import { type AlgorithmIdentifier, IssuerAndSerialNumber, type SignedData, type SignerInfo } from 'pkijs';
import { OID } from './object-identifiers.js';
import { readPss } from './read-pss.js';
import { TimestampRefused } from './timestamp-refused.js';

const DATA_VERSION = 3;
const SIGNER_VERSION = 1;

const isPlain = ({ algorithmParams }: AlgorithmIdentifier): boolean =>
  algorithmParams === undefined || algorithmParams instanceof Null;

const odd = (signed: SignedData, { version, sid, digestAlgorithm, signatureAlgorithm }: SignerInfo): string | null => {
  const [listed, ...others] = signed.digestAlgorithms;
  const isPss = signatureAlgorithm.algorithmId === OID.rsaPss;
  if (isPss && readPss(signatureAlgorithm)?.hash !== digestAlgorithm.algorithmId)
    return 'is signed with RSA-PSS and parameters that are not written out, or that name several hash functions';
  if (!(sid instanceof IssuerAndSerialNumber)) return 'names its signer by a key identifier';
  if (signed.version !== DATA_VERSION || version !== SIGNER_VERSION)
    return `is of version ${signed.version}, its signer's of ${version}`;
  if (others.length > 0 || listed?.algorithmId !== digestAlgorithm.algorithmId)
    return 'lists other digest algorithms than that of its signer';
  if (![listed, digestAlgorithm, ...(isPss ? [] : [signatureAlgorithm])].every(isPlain))
    return 'has an algorithm with parameters';
  return null;
};

/**
 * Refuses (`unsupported_form`) what may be right and cannot be verified by those who get it: `openssl ts` knows no key
 * identifiers, and of a dossier's seal `verify.py` accounts for every byte, so that a second algorithm that nobody signed
 * would be one too many. The operator learns it at the first stamp, and not an auditor years later.
 */
export const judgeForm = (signed: SignedData, signer: SignerInfo): void => {
  const found = odd(signed, signer);
  if (found !== null) throw new TimestampRefused('unsupported_form', `the token ${found}, which dossiers cannot hold`);
};
