import { parseArgs } from 'node:util';
import { connectDatabase } from '@vat/db';
import { readSettings } from '@vat/runtime';
import type { Command } from './command.js';
import { UsageError } from './command.js';
import { accountCommands } from './commands/accounts.js';
import { anchorCommands, timestampRootCommands } from './commands/evidence.js';
import { keyCommands } from './commands/keys.js';
import { operationCommands } from './commands/operations.js';
import { secretCommands } from './commands/secrets.js';
import { upstreamCommands } from './commands/upstreams.js';
import { watchCommands } from './commands/watches.js';

/** The number of arguments in a usage line before its flags: two in `account set-plan ACCOUNT PLAN`. */
const countArguments = (usage: string): number => {
  const words = usage.split(' ');
  const flagsAt = words.findIndex((word) => /^\[?--/.test(word));
  return words.slice(0, flagsAt === -1 ? words.length : flagsAt).filter((word) => /^[A-Z_]+$/.test(word)).length;
};

const parse = (command: Command, words: string[]) => {
  const { positionals, flags } = split(command, words);
  // A surplus argument is an error: `key revoke A B` must not revoke A and silently ignore B.
  const surplus = positionals.slice(countArguments(command.usage));
  if (surplus.length > 0) throw new UsageError(`Unexpected argument ${surplus.join(' ')}. Write: ${command.usage}`);
  return { positionals, flags };
};

const split = (command: Command, words: string[]) => {
  try {
    const { values, positionals } = parseArgs({
      args: words,
      options: command.flags,
      allowPositionals: true,
      strict: true,
    });
    return { positionals, flags: values as Record<string, string | boolean | undefined> };
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)} Write: ${command.usage}`);
  }
};

const findCommand = (
  commands: Record<string, Command>,
  words: string[],
): { command: Command; rest: string[] } | null => {
  const name = [words.slice(0, 2).join(' '), words[0] ?? ''].find((candidate) => Object.hasOwn(commands, candidate));
  const command = name === undefined ? undefined : commands[name];
  return name !== undefined && command ? { command, rest: words.slice(name.split(' ').length) } : null;
};

/**
 * Runs one admin command and returns the JSON object to print. `readLine` reads a line of standard input, for commands that
 * take a secret from there. Throws {@link UsageError}, FailedCheck and SettingsError.
 */
export const runCommand = async (
  words: string[],
  env: NodeJS.ProcessEnv,
  readLine: () => Promise<string>,
): Promise<Record<string, unknown>> => {
  const now = () => new Date();
  const standalone = upstreamCommands(env, now);
  const alone = findCommand(standalone, words);
  if (alone) return alone.command.run(parse(alone.command, alone.rest));
  const { DATABASE_URL: url } = readSettings(env, 'admin', ['DATABASE_URL']);
  const { db, close } = connectDatabase({
    url,
    maxConnections: 2,
    queryTimeoutMs: 30_000,
    connectTimeoutMs: 5_000,
    applicationName: 'vat-admin',
  });
  try {
    const commands: Record<string, Command> = {
      ...accountCommands(db, env, now, readLine),
      ...keyCommands(db, now),
      ...operationCommands(db, url, env, now),
      ...watchCommands(db, env, now),
      ...anchorCommands(db, env, now),
      ...secretCommands(db, env),
      ...timestampRootCommands(db),
    };
    const found = findCommand(commands, words);
    if (!found) {
      throw new UsageError(
        `Write one of: ${Object.values({ ...commands, ...standalone })
          .map(({ usage }) => usage)
          .join(' | ')}`,
      );
    }
    return await found.command.run(parse(found.command, found.rest));
  } finally {
    await close();
  }
};
