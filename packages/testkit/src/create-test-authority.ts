/** A key and certificate in PEM, as `node:https` takes them. */
export type Identity = { key: string; cert: string };

/** A certificate authority of one test file; `issue` makes server certificates signed by it. */
export type TestAuthority = { ca: string; issue: (names: Names) => Promise<Identity> };

type Names = { dns?: string[]; ip?: string[]; notAfter?: Date };

const DAY_MS = 86_400_000;

export const createTestAuthority = async (): Promise<TestAuthority> => {
  // Loaded only by the few tests that need certificates.
  const { authorityExtensions, certificatePem, issueCertificate, privateKeyPem, serverNames } = await import(
    '@vat/evidence/proof'
  );
  const from = new Date(Date.now() - 10 * DAY_MS);
  const to = new Date(Date.now() + DAY_MS);
  const root = issueCertificate({
    ...{ subject: 'Test authority', issuer: null, from, to },
    extensions: authorityExtensions(),
  });
  return {
    ca: certificatePem(root.certificate),
    issue: async ({ notAfter = to, ...names }) => {
      const receiver = issueCertificate({
        ...{ subject: 'Test receiver', issuer: root, from, to: notAfter },
        extensions: [serverNames(names)],
      });
      return { key: privateKeyPem(receiver.key), cert: certificatePem(receiver.certificate) };
    },
  };
};
