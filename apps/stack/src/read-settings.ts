import { createServer } from 'node:net';
import { readSettings, type SettingsOf, settingProblems } from '@vat/runtime';

/** An error that the user at the terminal must correct; only its message is shown. */
export class StartupError extends Error {
  override readonly name = 'StartupError';
}

/** The settings that the supervisor itself reads; everything else in the environment is for its children. */
export type StackSettings = SettingsOf<'stack'>;

/**
 * Reads the settings from an environment. Throws StartupError that lists all invalid settings, including those that only the
 * children read: these would otherwise end three times, and their message would be lost in the output of the servers.
 */
export const readStackSettings = (env: NodeJS.ProcessEnv): StackSettings => {
  const problems = settingProblems(env, 'stack');
  if (problems.length > 0) throw new StartupError(`these settings cannot be used:\n  ${problems.join('\n  ')}`);
  return readSettings(env, 'stack');
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
