import { webcrypto } from 'node:crypto';
import type { X509Certificate } from '@peculiar/x509';

/** A key and certificate in PEM, as `node:https` takes them. */
export type Identity = { key: string; cert: string };

/** A certificate authority of one test file; `issue` makes server certificates signed by it. */
export type TestAuthority = { ca: string; issue: (names: Names) => Promise<Identity> };

type Names = { dns?: string[]; ip?: string[]; notAfter?: Date };

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const DAY_MS = 86_400_000;
const newKeys = () => webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
const pemOf = (certificate: X509Certificate) => certificate.toString('pem');

/** Makes an authority that only the test trusts. */
export const createTestAuthority = async (): Promise<TestAuthority> => {
  // Loaded only by the few tests that need certificates. The library requires reflect-metadata.
  await import('reflect-metadata');
  const {
    BasicConstraintsExtension,
    cryptoProvider,
    PemConverter,
    SubjectAlternativeNameExtension,
    X509CertificateGenerator,
  } = await import('@peculiar/x509');
  cryptoProvider.set(webcrypto as never);
  const from = new Date(Date.now() - 10 * DAY_MS);
  const to = new Date(Date.now() + DAY_MS);
  const authority = await newKeys();
  const root = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=Test authority',
    keys: authority as never,
    notBefore: from,
    notAfter: to,
    signingAlgorithm: ALGORITHM,
    extensions: [new BasicConstraintsExtension(true, 1, true)],
  });

  const issue = async ({ dns = [], ip = [], notAfter = to }: Names): Promise<Identity> => {
    const keys = await newKeys();
    const names = [...dns.map((value) => ({ type: 'dns', value })), ...ip.map((value) => ({ type: 'ip', value }))];
    const leaf = await X509CertificateGenerator.create({
      subject: 'CN=Test receiver',
      issuer: root.subject,
      notBefore: from,
      notAfter,
      publicKey: keys.publicKey as never,
      signingKey: authority.privateKey as never,
      signingAlgorithm: ALGORITHM,
      extensions: [new SubjectAlternativeNameExtension(names as never)],
    });
    const key = PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY');
    return { key, cert: pemOf(leaf) };
  };
  return { ca: pemOf(root), issue };
};
