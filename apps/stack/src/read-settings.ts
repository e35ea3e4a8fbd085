import { createServer } from 'node:net';
import { settingProblems, withSecretFiles } from '@vat/runtime';
import { z } from 'zod';

/** An error that the user at the terminal must correct; only its message is shown. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

const port = z.coerce.number().int().min(1).max(65_535);
const address = (...schemes: string[]) =>
  z.url({ protocol: new RegExp(`^(${schemes.join('|')})$`), error: `expected an address like ${schemes[0]}://…` });

const stackSettings = z.object({
  PORT: port.default(3000).describe('port on which the API listens'),
  HOST: z.string().default('127.0.0.1').describe('address on which the API listens'),
  BASE_URL: address('http', 'https')
    .optional()
    .describe('public URL of the API; derived from HOST and PORT by default'),
  DATABASE_URL: address('postgresql', 'postgres').optional().describe('an existing Postgres; embedded when unset'),
  REDIS_URL: address('redis', 'rediss').optional().describe('an existing Redis; embedded when unset'),
  DATA_DIR: z.string().default('.data').describe('directory for the files of the embedded servers'),
  SECRET_KEY: z.string().optional().describe('master key; created once in DATA_DIR when unset'),
  WORKERS: z.coerce.number().int().min(0).max(64).default(1).describe('number of worker processes'),
  METRICS_PORT: port
    .max(65_000)
    .default(9464)
    .describe('metrics port of the first worker; the others use the next ports'),
});

/** The settings that the supervisor itself reads; everything else in the environment is for its children. */
export type StackSettings = z.output<typeof stackSettings>;

/**
 * Reads the settings from an environment. An empty variable counts as unset. Throws StartupError that lists all invalid
 * settings, including those that only the children read: these would otherwise end three times, and their message
 * would be lost in the output of the servers.
 */
export const readSettings = (env: NodeJS.ProcessEnv): StackSettings => {
  const given = Object.fromEntries(Object.entries(withSecretFiles(env)).filter(([, value]) => value !== ''));
  const parsed = stackSettings.safeParse(given);
  // The message omits the value, because it may contain a password.
  const problems = parsed.error?.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`) ?? [];
  const nameIn = (line: string) => line.replace(/:.*/s, '');
  const reported = problems.map(nameIn);
  problems.push(...settingProblems(env).filter((line) => !reported.includes(nameIn(line))));
  if (parsed.success && problems.length === 0) return parsed.data;
  throw new StartupError(`these settings cannot be used:\n  ${problems.join('\n  ')}`);
};

const EXPLAIN: Record<string, (host: string, port: number) => string> = {
  EADDRINUSE: (host, port) =>
    `port ${port} on ${host} is in use: stop the program that listens there, or choose another PORT`,
  EACCES: (_host, port) => `port ${port} needs privileges that this user does not have: choose a PORT above 1023`,
  EADDRNOTAVAIL: (host) => `HOST ${host} is not an address of this machine`,
  ENOTFOUND: (host) => `HOST ${host} is not an address of this machine`,
};

/** Checks that the API can listen on `host` and `port`. Throws StartupError with advice otherwise. */
export const assertPortFree = (host: string, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', ({ code = '', message }: NodeJS.ErrnoException) => {
      reject(new StartupError(EXPLAIN[code]?.(host, port) ?? `cannot listen on ${host}:${port}: ${message}`));
    });
    probe.listen({ port, host, exclusive: true }, () => probe.close(() => resolve()));
  });

/** BASE_URL without a trailing slash, or the URL of HOST and PORT for a caller on this machine. */
export const deriveBaseUrl = ({ BASE_URL, HOST, PORT }: Pick<StackSettings, 'BASE_URL' | 'HOST' | 'PORT'>): string => {
  if (BASE_URL !== undefined) return BASE_URL.replace(/\/+$/, '');
  // The wildcard address is only for listening.
  const host = HOST === '0.0.0.0' ? '127.0.0.1' : HOST === '::' ? '::1' : HOST;
  return `http://${host.includes(':') ? `[${host}]` : host}:${PORT}`;
};
