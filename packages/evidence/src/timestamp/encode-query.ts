import { Integer, Null, OctetString } from 'asn1js';
import { AlgorithmIdentifier, MessageImprint, TimeStampReq } from 'pkijs';
import { OID } from './object-identifiers.js';

type Query = {
  /** SHA-256 of what is stamped: 32 bytes. */
  digest: Uint8Array;
  /** Ties the answer to this query; a DER INTEGER, so the first byte is 0x01 to 0x7f. */
  nonce: Uint8Array;
};

/**
 * A TimeStampReq in DER: SHA-256, a nonce, and the certificate asked for, so that the token can be verified alone. Throws
 * when the digest is not 32 bytes. Source: RFC 3161 §2.4.1.
 */
export const encodeQuery = ({ digest, nonce }: Query): Buffer => {
  if (digest.length !== 32) throw new Error(`a SHA-256 has 32 bytes, not ${digest.length}`);
  const request = new TimeStampReq({
    version: 1,
    messageImprint: new MessageImprint({
      hashAlgorithm: new AlgorithmIdentifier({ algorithmId: OID.sha256, algorithmParams: new Null() }),
      hashedMessage: new OctetString({ valueHex: Uint8Array.from(digest) }),
    }),
    nonce: new Integer({ valueHex: Uint8Array.from(nonce) }),
    certReq: true,
  });
  return Buffer.from(request.toSchema().toBER());
};
