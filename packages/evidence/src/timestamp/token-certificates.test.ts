import { X509Certificate } from 'node:crypto';
import { tokenCertificates, withIssuers } from './certificates.js';
import { createDevelopmentAuthority, makeDevelopmentIdentity } from './development-authority.js';
import { openOpenssl } from './openssl-authority.fixture.js';
import { encodeQuery, readResponse } from './timestamp-messages.js';

const now = () => new Date();
const query = encodeQuery({ digest: Buffer.alloc(32, 7), nonce: Buffer.alloc(16, 1) });
const namesOf = (pems: readonly string[]) => pems.map((pem) => new X509Certificate(pem).fingerprint256).sort();
const readAll = (token: Uint8Array) =>
  readResponse(token)
    .certificates.map(({ x509 }) => x509.fingerprint256)
    .sort();

/** The same element with an indefinite length, as BER allows. */
const openLengths = (der: Buffer): Buffer => {
  const first = der.readUInt8(1);
  const start = first < 0x80 ? 2 : 2 + (first & 0x7f);
  const body = der.subarray(start);
  return Buffer.concat([der.subarray(0, 1), Buffer.of(0x80), body, Buffer.of(0, 0)]);
};

test('finds the same certificates as complete parsing, in our tokens and those of openssl, in every encoding', async () => {
  const identity = await makeDevelopmentIdentity(now());
  const authority = await createDevelopmentAuthority({ identity, now });
  const openssl = await openOpenssl();
  try {
    const foreign = openssl.makeAuthority('Somebody');
    for (const token of [await authority.reply(query), foreign.reply(query)]) {
      expect(readAll(token).length).toBeGreaterThan(0);
      expect(namesOf(tokenCertificates(token))).toEqual(readAll(token));
      expect(namesOf(tokenCertificates(openLengths(Buffer.from(token))))).toEqual(readAll(token));
    }
    const token = foreign.reply(query);
    const inToken = tokenCertificates(token);
    const whole = withIssuers(inToken, [foreign.root, identity.root]);
    expect(namesOf(whole)).toEqual([...new Set(namesOf([...inToken, foreign.root]))].sort());
  } finally {
    openssl.close();
  }
});

test('throws for bytes that are not a token', () => {
  for (const bytes of [Buffer.alloc(0), Buffer.from('3003020100', 'hex'), Buffer.from('308400ffffff', 'hex')])
    expect(() => tokenCertificates(bytes)).toThrow();
});
