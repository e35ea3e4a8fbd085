import { createHash, randomBytes } from 'node:crypto';
import { requestTimestamp } from './create-timestamper.js';
import {
  createDevelopmentAuthority,
  type DevelopmentIdentity,
  makeDevelopmentIdentity,
} from './development-authority.js';
import type { TimestampHash } from './object-identifiers.js';
import { type Openssl, openOpenssl, type Terms } from './openssl-authority.fixture.js';
import { encodeQuery } from './timestamp-messages.js';
import { verifyTimestamp } from './verify-timestamp.js';

const DATA = Buffer.from('{"id":"chk_1","valid":true}');
const DIGEST = createHash('sha256').update(DATA).digest();
const now = () => new Date();

let openssl: Openssl;
beforeAll(async () => {
  openssl = await openOpenssl();
});
afterAll(() => openssl?.close());

describe('a token that openssl made', () => {
  const kinds: Required<Pick<Terms, 'key' | 'digest' | 'nameCertificateBy'>>[] = [
    { key: 'rsa', digest: 'sha256', nameCertificateBy: 'sha256' },
    { key: 'rsa', digest: 'sha512', nameCertificateBy: 'sha1' },
    { key: 'ec', digest: 'sha256', nameCertificateBy: 'sha384' },
    { key: 'ec384', digest: 'sha384', nameCertificateBy: 'sha256' },
    { key: 'brainpool', digest: 'sha256', nameCertificateBy: 'sha512' },
  ];
  it.each(kinds)('verifies here: $key key, $digest, certificate named by $nameCertificateBy', async (terms) => {
    const authority = openssl.makeAuthority('Test', terms);
    const send = (query: Uint8Array) => Promise.resolve(authority.reply(query));
    const stamp = await requestTimestamp({ send, now })(DIGEST);
    expect(stamp).toMatchObject({
      ...{ policy: '1.3.6.1.4.1.99999.1.1', serial: '02', accuracyMs: 1_501, development: false },
      authority: 'Test unit',
    });
    // With a known root the chain includes it; the token contains only the configured certificates.
    expect(stamp.certificates).toHaveLength(2);
    const trusted = await requestTimestamp({ send, now, trustedRoots: [authority.root] })(DIGEST);
    expect(trusted).toMatchObject({ serial: '03' });
    expect(trusted.certificates).toHaveLength(3);
    expect(openssl.verify({ token: trusted.tokenBytes, root: authority.root, data: DATA })).toBe('Verification: OK');
  });

  it('has the time that openssl prints', async () => {
    const authority = openssl.makeAuthority('Time');
    const nonce = Buffer.from('40ffffffffffffffffffffffffffffff', 'hex');
    const tokenBytes = authority.reply(encodeQuery({ digest: DIGEST, nonce }));
    const { genTime } = verifyTimestamp({ tokenBytes, digest: DIGEST, nonce });
    expect(Math.abs(genTime.getTime() - Date.now())).toBeLessThan(60_000);
    openssl.verify({ token: tokenBytes, root: authority.root, data: DATA });
    const printed = /Time stamp: (.*)/.exec(openssl.run('ts', '-reply', '-in', 'token.tsr', '-text'))?.[1] ?? '';
    expect(new Date(printed)).toEqual(genTime);
  });
});

describe('a token with another hash function or signature', () => {
  const kinds: [Terms, TimestampHash][] = [
    [{ key: 'ec', digest: 'sha512' }, 'sha384'],
    [{ key: 'rsa', digest: 'sha384' }, 'sha512'],
    [{ key: 'pss', unitKey: 'rsa', pss: true, digest: 'sha256' }, 'sha256'],
    [{ key: 'pss', unitKey: 'rsa', pss: true, digest: 'sha384' }, 'sha512'],
  ];
  it.each(kinds)('verifies here and with openssl: %j, over a %s', async (terms, imprint) => {
    const { root, reply } = openssl.makeAuthority('Other', terms);
    const digest = createHash(imprint).update(DATA).digest();
    const send = async (query: Uint8Array) => reply(query);
    const { tokenBytes: token } = await requestTimestamp({ send, now, trustedRoots: [root] })(digest);
    // openssl supports RSA-PSS only in CMS; the tests in ../verify verify dossiers with such tokens.
    if (terms.pss) expect(() => openssl.verify({ token, root, data: DATA })).toThrow('signature failure');
    else expect(openssl.verify({ token, root, data: DATA })).toBe('Verification: OK');
    const changed = Buffer.from(token);
    changed[changed.length - 20] = (changed.at(-20) ?? 0) ^ 1;
    expect(() => verifyTimestamp({ tokenBytes: changed, digest })).toThrow('the signature is invalid');
  });
});

describe('a token of the development authority', () => {
  let identity: DevelopmentIdentity;
  beforeAll(async () => {
    identity = await makeDevelopmentIdentity(now());
  });
  const stamp = async () => {
    const { reply: send } = await createDevelopmentAuthority({ identity, now });
    return requestTimestamp({ send, now })(DIGEST);
  };

  it('verifies with openssl, from the data and from a query', async () => {
    const { tokenBytes: token } = await stamp();
    expect(openssl.verify({ token, root: identity.root, data: DATA })).toBe('Verification: OK');
    const { reply } = await createDevelopmentAuthority({ identity, now });
    const nonce = Buffer.of(0x40, ...randomBytes(7));
    const query = encodeQuery({ digest: DIGEST, nonce });
    expect(openssl.verify({ token: await reply(query), root: identity.root, query })).toBe('Verification: OK');
  });

  it('fails with openssl for other data and with another root', async () => {
    const { tokenBytes: token } = await stamp();
    expect(() => openssl.verify({ token, root: identity.root, data: Buffer.from('other') })).toThrow(/imprint/);
    const { root } = await makeDevelopmentIdentity(now());
    expect(() => openssl.verify({ token, root, data: DATA })).toThrow(/certificate verify error/);
  });

  it('is made for a query of openssl, also without nonce and certificates', async () => {
    const { reply } = await createDevelopmentAuthority({ identity, now });
    for (const options of [['-cert'], ['-no_nonce', '-cert'], ['-no_nonce']]) {
      openssl.run('ts', '-query', '-digest', DIGEST.toString('hex'), '-sha256', ...options, '-out', 'received.tsq');
      const query = Buffer.from(openssl.run('base64', '-A', '-in', 'received.tsq'), 'base64');
      const given = { token: await reply(query), root: identity.root, untrusted: identity.certificate };
      expect(openssl.verify({ ...given, query })).toBe('Verification: OK');
    }
  });
});
