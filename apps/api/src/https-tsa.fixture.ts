import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createTestAuthority, createTestTsa, type TestTsa } from '@vat/testkit';

/** A time-stamping authority on loopback with TLS, whose URL contains credentials. */
type HttpsTsa = Pick<TestTsa, 'url' | 'changeRoot' | 'close'> & {
  /** The PEM file for NODE_EXTRA_CA_CERTS, so that its TLS certificate is accepted. */
  certificates: string;
};

/** Starts a time-stamping authority. */
export const startHttpsTsa = async (): Promise<HttpsTsa> => {
  const { ca, issue } = await createTestAuthority();
  const tsa = await createTestTsa(await issue({ ip: ['127.0.0.1'] }));
  const folder = await mkdtemp(path.join(tmpdir(), 'vat-https-tsa-'));
  const certificates = path.join(folder, 'ca.pem');
  await writeFile(certificates, ca);
  await tsa.open();
  return {
    url: tsa.url.replace('//', '//user:secret@'),
    certificates,
    changeRoot: tsa.changeRoot,
    close: async () => {
      await tsa.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
