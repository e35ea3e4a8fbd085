import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createDevelopmentAuthority, makeDevelopmentIdentity } from '@vat/evidence/proof';

/** A time-stamping authority on loopback with a fixed port, also while it is closed. */
export type Tsa = {
  url: string;
  root: string;
  /** The answers sent. */
  sent: Buffer[];
  /** `honest`, or `wrong`: answers with a token for other data. */
  says: (what: 'honest' | 'wrong') => void;
  open: () => Promise<void>;
  close: () => Promise<void>;
};

const now = () => new Date();

/** Creates an authority, closed at first. */
export const makeTsa = async (): Promise<Tsa> => {
  const identity = await makeDevelopmentIdentity(now());
  const authority = await createDevelopmentAuthority({ identity, now });
  const sent: Buffer[] = [];
  let mode: 'honest' | 'wrong' = 'honest';
  let server: Server | null = null;
  let first: Buffer | null = null;

  const listen = async (port: number): Promise<number> => {
    server = createServer((request, response) => {
      void request.toArray().then(async (chunks: Buffer[]) => {
        const answer = Buffer.from(await authority.reply(Buffer.concat(chunks)));
        first ??= answer;
        const bytes = mode === 'honest' ? answer : first;
        sent.push(bytes);
        response.writeHead(200, { 'content-type': 'application/timestamp-reply' }).end(bytes);
      });
    }).listen(port, '127.0.0.1');
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
    ...{ url: `http://127.0.0.1:${port}/tsa`, root: identity.root, sent, close },
    says: (what) => {
      mode = what;
    },
    open: async () => void (await listen(port)),
  };
};
