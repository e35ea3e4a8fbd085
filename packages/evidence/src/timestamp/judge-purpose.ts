import { BitString } from 'asn1js';
import { ExtKeyUsage } from 'pkijs';
import { OID } from './object-identifiers.js';
import { extensionOf, type ReadCertificate } from './read-certificate.js';
import { TimestampRefused } from './timestamp-refused.js';

/** digitalSignature and nonRepudiation, the first two bits of KeyUsage. */
const SIGNING = 0b1100_0000;

/**
 * Whether a certificate is made for time-stamping and for nothing else: its extended key usage is critical and that
 * alone, its key usage only for signing. Throws {@link TimestampRefused}. Source: RFC 3161 §2.3.
 */
export const judgePurpose = (certificate: ReadCertificate): void => {
  const purpose = extensionOf(certificate, OID.extendedKeyUsage);
  const purposes = purpose?.parsedValue instanceof ExtKeyUsage ? purpose.parsedValue.keyPurposes : [];
  if (!purpose?.critical || purposes.length !== 1 || purposes[0] !== OID.timeStamping)
    throw new TimestampRefused('wrong_purpose', 'the certificate is not critically for time-stamping alone');
  const usage = extensionOf(certificate, OID.keyUsage)?.parsedValue;
  if (usage === undefined) return;
  const [bits = 0, ...more] = usage instanceof BitString ? usage.valueBlock.valueHexView : [];
  if ((bits & SIGNING) === 0 || (bits & ~SIGNING) !== 0 || more.some((byte) => byte !== 0))
    throw new TimestampRefused('wrong_purpose', "the certificate's key usage is not signing alone");
};
