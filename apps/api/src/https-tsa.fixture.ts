import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createDevelopmentAuthority, type DevelopmentAuthority, makeDevelopmentIdentity } from '@vat/evidence';
import { createTestAuthority } from '@vat/testkit';

/** A time-stamping authority on loopback with TLS. */
type HttpsTsa = {
  url: string;
  /** The PEM file for NODE_EXTRA_CA_CERTS, so that its TLS certificate is accepted. */
  certificates: string;
  /** Stamps with a new root from now on, like an impostor. */
  changeRoot: () => Promise<void>;
  close: () => Promise<void>;
};

const now = () => new Date();
const makeAuthority = async (): Promise<DevelopmentAuthority> =>
  createDevelopmentAuthority({ identity: await makeDevelopmentIdentity(now()), now });

/** Starts a time-stamping authority. */
export const startHttpsTsa = async (): Promise<HttpsTsa> => {
  const { ca, issue } = await createTestAuthority();
  const folder = await mkdtemp(path.join(tmpdir(), 'vat-https-tsa-'));
  const certificates = path.join(folder, 'ca.pem');
  await writeFile(certificates, ca);
  let authority = await makeAuthority();
  const server = createServer(await issue({ ip: ['127.0.0.1'] }), (request, response) => {
    void request.toArray().then(async (chunks: Buffer[]) => {
      const bytes = await authority.reply(Buffer.concat(chunks));
      response.writeHead(200, { 'content-type': 'application/timestamp-reply' }).end(bytes);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://user:secret@127.0.0.1:${(server.address() as AddressInfo).port}/tsa`,
    certificates,
    changeRoot: async () => {
      authority = await makeAuthority();
    },
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      await rm(folder, { recursive: true, force: true });
    },
  };
};
