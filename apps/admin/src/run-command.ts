import { parseArgs } from 'node:util';
import { connectDatabase, type Database, readClock } from '@vat/db';
import { type CorrectedClock, correctedClock, readSettings } from '@vat/runtime';
import { type Arguments, type Commands, UsageError } from './command.js';
import { accountCommands } from './commands/accounts.js';
import { backupCommands } from './commands/backup.js';
import { anchorCommands, timestampRootCommands } from './commands/evidence.js';
import { keyCommands } from './commands/keys.js';
import { operationCommands } from './commands/operations.js';
import { secretCommands } from './commands/secrets.js';
import { upstreamCommands } from './commands/upstreams.js';
import { watchCommands } from './commands/watches.js';

/** What a usage line says: the words of the command, the number of its arguments, and its flags. */
const readUsage = (usage: string) => {
  const [beforeFlags = ''] = usage.split(/ \[?--/);
  const isArgument = (word: string) => /^[A-Z_]+$/.test(word);
  const words = beforeFlags.split(' ');
  // A flag has a value if a word follows it, as in `--quota N`.
  const flags = [...usage.matchAll(/--([a-z-]+)( [A-Z])?/g)].map(
    ([, name = '', value]) => [name, { type: value ? 'string' : 'boolean' }] as const,
  );
  return {
    name: words.filter((word) => !isArgument(word)),
    arity: words.filter(isArgument).length,
    options: Object.fromEntries(flags),
  };
};

/** Throws {@link UsageError} on an unknown flag, a flag without its value, or a surplus argument. */
const parse = (usage: string, words: string[]): Arguments => {
  const { name, arity, options } = readUsage(usage);
  // Some messages of Node end without a full stop.
  const fail = (why: string) => new UsageError(`${why.replace(/[^.?]$/, '$&.')} Write: ${usage}`);
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({ args: words.slice(name.length), options, allowPositionals: true });
  } catch (error) {
    throw fail(error instanceof Error ? error.message : String(error));
  }
  const { positionals, values } = parsed;
  // A surplus argument is an error: `key revoke A B` must not revoke A and silently ignore B.
  if (positionals.length > arity) throw fail(`Unexpected argument ${positionals.slice(arity).join(' ')}.`);
  return { positionals, flags: values as Arguments['flags'] };
};

/** Returns a function that runs the command that `words` name, or undefined if they name none. */
const findCommand = (commands: Commands, words: string[]) => {
  const found = Object.entries(commands).find(([usage]) =>
    readUsage(usage).name.every((word, index) => word === words[index]),
  );
  return found && (() => found[1](parse(found[0], words)));
};

/** What the commands that use the database need. They use it when they run, not before. */
type CommandContext = {
  db: Database;
  url: string;
  env: NodeJS.ProcessEnv;
  now: () => Date;
  readLine: () => Promise<string>;
};

const commandsOf = ({ db, url, env, now, readLine }: CommandContext): Commands => ({
  ...accountCommands(db, env, now, readLine),
  ...keyCommands(db, now),
  ...operationCommands(db, url, env, now),
  ...backupCommands(url, now),
  ...watchCommands(db, env, now),
  ...anchorCommands(db, env, now),
  ...secretCommands(db, env),
  ...timestampRootCommands(db),
});

/** The commands are only listed, which uses no database. */
const NO_DATABASE = { db: {} as Database, url: '', now: () => new Date() };

const asksForHelp = (words: string[]): boolean => words[0] === 'help' || words.includes('--help');

/** The usage lines of the commands that begin with the words beside `help`, or of all when none does. */
const helpOn = (commands: Commands, words: string[]): { commands: string[] } => {
  const named = words.slice(words[0] === 'help' ? 1 : 0).filter((word) => word !== '--help');
  const all = Object.keys(commands);
  const found = all.filter((usage) => `${usage} `.startsWith(`${named.join(' ')} `));
  return { commands: named.length > 0 && found.length > 0 ? found : all };
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
  const standalone = upstreamCommands(env, () => new Date());
  if (asksForHelp(words)) return helpOn({ ...commandsOf({ ...NO_DATABASE, env, readLine }), ...standalone }, words);
  const runAlone = findCommand(standalone, words);
  if (runAlone) return runAlone();
  const { DATABASE_URL: url } = readSettings(env, 'admin', ['DATABASE_URL']);
  const { db, close } = connectDatabase({
    url,
    maxConnections: 2,
    queryTimeoutMs: 30_000,
    connectTimeoutMs: 5_000,
    applicationName: 'vat-admin',
  });
  let clock: CorrectedClock | undefined;
  const now = () => clock?.now() ?? new Date();
  try {
    const commands = commandsOf({ db, url, env, now, readLine });
    const run = findCommand(commands, words);
    if (!run) throw new UsageError(`Write one of: ${Object.keys({ ...commands, ...standalone }).join(' | ')}`);
    // Its dates are compared with those of the service: an anchor whose time is wrong by minutes would never verify.
    clock = correctedClock({ readTime: readClock(db), onOffset: () => undefined });
    await clock.measured;
    return await run();
  } finally {
    clock?.close();
    await close();
  }
};
