import { Integer, Null, OctetString } from 'asn1js';
import { AlgorithmIdentifier, MessageImprint, TimeStampReq } from 'pkijs';
import { hashOfLength, OID } from './object-identifiers.js';

type Query = {
  /** SHA-256, SHA-384 or SHA-512 of what is stamped; its length says which. */
  digest: Uint8Array;
  /** Ties the answer to this query; a DER INTEGER, so the first byte is 0x01 to 0x7f. */
  nonce: Uint8Array;
};

/**
 * A TimeStampReq in DER: the hash, a nonce, and the certificate asked for, so that the token can be verified alone. Throws
 * when the digest is of no such length. Source: RFC 3161 §2.4.1.
 */
export const encodeQuery = ({ digest, nonce }: Query): Buffer => {
  const hash = hashOfLength(digest.length);
  if (hash === null) throw new Error(`no hash function that time-stamps are made with gives ${digest.length} bytes`);
  const request = new TimeStampReq({
    version: 1,
    messageImprint: new MessageImprint({
      hashAlgorithm: new AlgorithmIdentifier({ algorithmId: OID[hash], algorithmParams: new Null() }),
      hashedMessage: new OctetString({ valueHex: Uint8Array.from(digest) }),
    }),
    nonce: new Integer({ valueHex: Uint8Array.from(nonce) }),
    certReq: true,
  });
  return Buffer.from(request.toSchema().toBER());
};
