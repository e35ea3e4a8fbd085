import { createServer } from 'node:net';
import { StartupError } from './startup-error.js';

const EXPLAIN: Record<string, (host: string, port: number) => string> = {
  EADDRINUSE: (host, port) => `port ${port} on ${host} is in use: end what listens there, or choose another PORT`,
  EACCES: (_host, port) => `port ${port} needs rights this user does not have: choose a PORT above 1023`,
  EADDRNOTAVAIL: (host) => `HOST ${host} is not an address of this machine`,
  ENOTFOUND: (host) => `HOST ${host} is not an address of this machine`,
};

/** Throws StartupError, saying what to do, unless the API will be able to listen on `host` and `port`. */
export const assertPortFree = (host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', ({ code = '', message }: NodeJS.ErrnoException) => {
      reject(new StartupError(EXPLAIN[code]?.(host, port) ?? `cannot listen on ${host}:${port}: ${message}`));
    });
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve()));
  });
