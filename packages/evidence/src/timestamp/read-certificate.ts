import { X509Certificate } from 'node:crypto';
import { Certificate, type Extension } from 'pkijs';

/** One certificate, read twice: OpenSSL judges its signature and its issuer, pkijs tells its extensions. */
export type ReadCertificate = { x509: X509Certificate; fields: Certificate };

/** Reads DER or PEM. Throws whatever the libraries throw at what is no certificate. */
export const readCertificate = (source: Buffer | string): ReadCertificate => {
  const x509 = new X509Certificate(source);
  return { x509, fields: Certificate.fromBER(Uint8Array.from(x509.raw)) };
};

/** The extension of that identifier, or undefined. */
export const extensionOf = ({ fields }: ReadCertificate, extnID: string): Extension | undefined =>
  fields.extensions?.find((extension) => extension.extnID === extnID);
