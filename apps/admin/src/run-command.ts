import { parseArgs } from 'node:util';
import { connectDatabase } from '@vat/db';
import { readSettings } from '@vat/runtime';
import type { Verb } from './command.js';
import { UsageError } from './command.js';
import { accountVerbs } from './verbs/accounts.js';
import { anchorVerbs, timestampRootVerbs } from './verbs/evidence.js';
import { keyVerbs } from './verbs/keys.js';
import { operationVerbs } from './verbs/operations.js';
import { secretVerbs } from './verbs/secrets.js';
import { upstreamVerbs } from './verbs/upstreams.js';
import { watchVerbs } from './verbs/watches.js';

/** How many ids and names a usage line asks for before its flags: two in `account set-plan ACCOUNT PLAN`. */
const countArguments = (usage: string): number => {
  const words = usage.split(' ');
  const flagsAt = words.findIndex((word) => /^\[?--/.test(word));
  return words.slice(0, flagsAt === -1 ? words.length : flagsAt).filter((word) => /^[A-Z_]+$/.test(word)).length;
};

const parse = (verb: Verb, words: string[]) => {
  const { positionals, flags } = split(verb, words);
  // A word too many is a word meant for something else: `key revoke A B` must not end A alone in silence.
  const surplus = positionals.slice(countArguments(verb.usage));
  if (surplus.length > 0) throw new UsageError(`${surplus.join(' ')} is too much. Write: ${verb.usage}`);
  return { positionals, flags };
};

const split = (verb: Verb, words: string[]) => {
  try {
    const { values, positionals } = parseArgs({
      args: words,
      options: verb.flags,
      allowPositionals: true,
      strict: true,
    });
    return { positionals, flags: values as Record<string, string | boolean | undefined> };
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)} Write: ${verb.usage}`);
  }
};

const findVerb = (verbs: Record<string, Verb>, words: string[]): { verb: Verb; rest: string[] } | null => {
  const name = [words.slice(0, 2).join(' '), words[0] ?? ''].find((candidate) => Object.hasOwn(verbs, candidate));
  const verb = name === undefined ? undefined : verbs[name];
  return name !== undefined && verb ? { verb, rest: words.slice(name.split(' ').length) } : null;
};

/**
 * Runs one command of the operator and returns the JSON object to print. `readLine` reads a line of standard input, where a
 * command takes a secret from there. Throws {@link UsageError}, BadNews and SettingsError.
 */
export const runCommand = async (
  words: string[],
  env: NodeJS.ProcessEnv,
  readLine: () => Promise<string>,
): Promise<Record<string, unknown>> => {
  const now = () => new Date();
  const standalone = upstreamVerbs(env, now);
  const alone = findVerb(standalone, words);
  if (alone) return alone.verb.run(parse(alone.verb, alone.rest));
  const { DATABASE_URL: url } = readSettings(env, ['DATABASE_URL']);
  const { db, close } = connectDatabase({
    url,
    maxConnections: 2,
    queryTimeoutMs: 30_000,
    connectTimeoutMs: 5_000,
    applicationName: 'vat-admin',
  });
  try {
    const verbs: Record<string, Verb> = {
      ...accountVerbs(db, env, now, readLine),
      ...keyVerbs(db, now),
      ...operationVerbs(db, url, env, now),
      ...watchVerbs(db, env, now),
      ...anchorVerbs(db, env, now),
      ...secretVerbs(db, env),
      ...timestampRootVerbs(db),
    };
    const found = findVerb(verbs, words);
    if (!found) {
      throw new UsageError(
        `Write one of: ${Object.values({ ...verbs, ...standalone })
          .map(({ usage }) => usage)
          .join(' | ')}`,
      );
    }
    return await found.verb.run(parse(found.verb, found.rest));
  } finally {
    await close();
  }
};
