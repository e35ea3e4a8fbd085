import { createServer } from 'node:net';
import { settingProblems, withSecretFiles } from '@vat/runtime';
import { z } from 'zod';

/** Something the person at the terminal has to put right; its message is all they are shown. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

const port = z.coerce.number().int().min(1).max(65_535);
const address = (...schemes: string[]) =>
  z.url({ protocol: new RegExp(`^(${schemes.join('|')})$`), error: `expected an address like ${schemes[0]}://…` });

const stackSettings = z.object({
  PORT: port.default(3000).describe('where the API listens'),
  HOST: z.string().default('127.0.0.1').describe('the address the API listens on'),
  BASE_URL: address('http', 'https').optional().describe('how the API names itself; derived from HOST and PORT'),
  DATABASE_URL: address('postgresql', 'postgres').optional().describe('a Postgres of yours; embedded when unset'),
  REDIS_URL: address('redis', 'rediss').optional().describe('a Redis of yours; embedded when unset'),
  DATA_DIR: z.string().default('.data').describe('where the embedded servers keep their files'),
  SECRET_KEY: z.string().optional().describe('master key; made once and kept in DATA_DIR when unset'),
  WORKERS: z.coerce.number().int().min(0).max(64).default(1).describe('worker processes to run'),
  METRICS_PORT: port.max(65_000).default(9464).describe('metrics of the first worker; the others follow'),
});

/** The settings the supervisor itself reads; everything else in the environment is for its children. */
export type StackSettings = z.output<typeof stackSettings>;

/**
 * Reads the settings from an environment. An empty variable counts as unset. Throws StartupError naming each bad one, those
 * that only its children read too: they would end three times, below all that the servers say.
 */
export const readSettings = (env: NodeJS.ProcessEnv): StackSettings => {
  const given = Object.fromEntries(Object.entries(withSecretFiles(env)).filter(([, value]) => value !== ''));
  const parsed = stackSettings.safeParse(given);
  // The value is not repeated: it may hold a password.
  const complaints = parsed.error?.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`) ?? [];
  const nameIn = (line: string) => line.replace(/:.*/s, '');
  const named = complaints.map(nameIn);
  complaints.push(...settingProblems(env).filter((line) => !named.includes(nameIn(line))));
  if (parsed.success && complaints.length === 0) return parsed.data;
  throw new StartupError(`these settings cannot be used:\n  ${complaints.join('\n  ')}`);
};

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

/** BASE_URL without a final slash, or what HOST and PORT amount to for a caller on this machine. */
export const deriveBaseUrl = ({ BASE_URL, HOST, PORT }: Pick<StackSettings, 'BASE_URL' | 'HOST' | 'PORT'>): string => {
  if (BASE_URL !== undefined) return BASE_URL.replace(/\/+$/, '');
  // "Every address" is one to listen on, not one to call.
  const host = HOST === '0.0.0.0' ? '127.0.0.1' : HOST === '::' ? '::1' : HOST;
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT}`;
};
