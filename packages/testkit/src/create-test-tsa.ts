import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Identity } from './create-test-authority.js';

/** A time-stamping authority on loopback with a fixed port, also while it is closed. */
export type TestTsa = {
  url: string;
  /** PEM; see {@link changeRoot}. */
  root: string;
  sent: Buffer[];
  /** `honest`, or `wrong`: answers with a token for other data. */
  answerWith: (what: 'honest' | 'wrong') => void;
  /** Stamps with another root from now on, like an impostor. */
  changeRoot: () => Promise<void>;
  open: () => Promise<void>;
  close: () => Promise<void>;
};

const now = () => new Date();

/** Creates an authority, closed at first; with TLS if it is given an identity. */
export const createTestTsa = async (tls?: Identity): Promise<TestTsa> => {
  // Loaded only by the few tests that need an authority.
  const { createDevelopmentAuthority, makeDevelopmentIdentity } = await import('@vat/evidence/proof');
  const first = await makeDevelopmentIdentity(now());
  let authority = await createDevelopmentAuthority({ identity: first, now });
  const sent: Buffer[] = [];
  let isHonest = true;
  let server: Server | null = null;

  const answer: RequestListener = async (request, response) => {
    const honest = Buffer.from(await authority.reply(Buffer.concat(await request.toArray())));
    const bytes = isHonest ? honest : (sent[0] ?? honest);
    sent.push(bytes);
    response.writeHead(200, { 'content-type': 'application/timestamp-reply' }).end(bytes);
  };
  const listen = async (port: number): Promise<number> => {
    server = (tls ? createHttpsServer(tls, answer) : createHttpServer(answer)).listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const close = async () => {
    if (!server) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    server = null;
    await closed;
  };
  const port = await listen(0);
  await close();
  return {
    ...{ url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}/tsa`, root: first.root, sent, close },
    answerWith: (what) => {
      isHonest = what === 'honest';
    },
    changeRoot: async () => {
      authority = await createDevelopmentAuthority({ identity: await makeDevelopmentIdentity(now()), now });
    },
    open: async () => void (await listen(port)),
  };
};
