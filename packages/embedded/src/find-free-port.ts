import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below every system's ephemeral range (Linux 32768+, others 49152+). A port inside it would be fatal for a server
// that is restarted: a client that keeps dialling the dead port can be given that very port as its own, connect to
// itself, and hold the port so that the server cannot bind it again.
const FIRST = 15_000;
const LAST = 29_999;

/** True when `port` can be bound on `host` now. */
export const isPortFree = (port: number, host = '127.0.0.1'): Promise<boolean> =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve(true)));
  });

/** A port on 127.0.0.1 that nobody listens on, outside the ephemeral range. Throws after 200 tries. */
export const findFreePort = async (): Promise<number> => {
  for (let tries = 0; tries < 200; tries += 1) {
    const port = randomInt(FIRST, LAST + 1);
    if (await isPortFree(port)) return port;
  }
  throw new Error(`no free port between ${FIRST} and ${LAST}`);
};
