import { parseArgs } from 'node:util';
import { connectDatabase } from '@vat/db';
import { readSettings } from '@vat/runtime';
import type { Command } from './command.js';
import { UsageError } from './command.js';
import { accountCommands } from './commands/accounts.js';
import { anchorCommands, timestampRootVerbs } from './commands/evidence.js';
import { keyCommands } from './commands/keys.js';
import { operationCommands } from './commands/operations.js';
import { secretVerbs } from './commands/secrets.js';
import { upstreamVerbs } from './commands/upstreams.js';
import { watchCommands } from './commands/watches.js';

/** How many ids and names a usage line asks for before its flags: two in `account set-plan ACCOUNT PLAN`. */
const countArguments = (usage: string): number => {
  const words = usage.split(' ');
  const flagsAt = words.findIndex((word) => /^\[?--/.test(word));
  return words.slice(0, flagsAt === -1 ? words.length : flagsAt).filter((word) => /^[A-Z_]+$/.test(word)).length;
};

const parse = (command: Command, words: string[]) => {
  const { positionals, flags } = split(command, words);
  // A word too many is a word meant for something else: `key revoke A B` must not end A alone in silence.
  const surplus = positionals.slice(countArguments(command.usage));
  if (surplus.length > 0) throw new UsageError(`${surplus.join(' ')} is too much. Write: ${command.usage}`);
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

const findVerb = (commands: Record<string, Command>, words: string[]): { command: Command; rest: string[] } | null => {
  const name = [words.slice(0, 2).join(' '), words[0] ?? ''].find((candidate) => Object.hasOwn(commands, candidate));
  const command = name === undefined ? undefined : commands[name];
  return name !== undefined && command ? { command, rest: words.slice(name.split(' ').length) } : null;
};

/**
 * Runs one command of the operator and returns the JSON object to print. `readLine` reads a line of standard input, where a
 * command takes a secret from there. Throws {@link UsageError}, FailedCheck and SettingsError.
 */
export const runCommand = async (
  words: string[],
  env: NodeJS.ProcessEnv,
  readLine: () => Promise<string>,
): Promise<Record<string, unknown>> => {
  const now = () => new Date();
  const standalone = upstreamVerbs(env, now);
  const alone = findVerb(standalone, words);
  if (alone) return alone.command.run(parse(alone.command, alone.rest));
  const { DATABASE_URL: url } = readSettings(env, ['DATABASE_URL']);
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
      ...secretVerbs(db, env),
      ...timestampRootVerbs(db),
    };
    const found = findVerb(commands, words);
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
