import { settingProblems, withSecretFiles } from '@vat/runtime';
import { z } from 'zod';
import { StartupError } from './startup-error.js';

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
