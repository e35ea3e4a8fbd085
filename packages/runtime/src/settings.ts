import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import type { Program } from './setting-formats.js';
import { SETTINGS, type SettingName } from './setting-table.js';

export type Environment = Readonly<Record<string, string | undefined>>;

export type SettingOf<P extends Program> = {
  [N in SettingName]: P extends (typeof SETTINGS)[N]['readBy'][number] ? N : never;
}[SettingName];

/** The values of settings as a program reads them; by default all its settings. */
export type SettingsOf<P extends Program, N extends SettingOf<P> = SettingOf<P>> = {
  [K in N]: z.output<(typeof SETTINGS)[K][P extends 'stack' ? 'stack' : 'schema']>;
};

const ALL = Object.keys(SETTINGS) as SettingName[];

/** The settings that hold a secret; each can be read from the file that NAME_FILE names. */
export const SECRET_SETTINGS = ALL.filter((name) => SETTINGS[name].secret);

/** Thrown when settings are missing or invalid; the message names each one and the expected format. */
export class SettingsError extends Error {
  override name = 'SettingsError';
}

/** Calls a parser of settings and rethrows what it throws as a {@link SettingsError}, which names `setting` if it is given. */
export const readAsSetting = <T>(read: () => T, setting?: string): T => {
  try {
    return read();
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new SettingsError(setting === undefined ? problem : `${setting}: ${problem}.`);
  }
};

const isSet = (text: string | undefined): text is string => text !== undefined && text.trim() !== '';

type Given = { text: string | undefined; problem?: undefined } | { problem: string };

/**
 * The text of a setting: of NAME or, for a secret, of the file that NAME_FILE names (as Docker and Kubernetes mount secrets),
 * without the line break at its end. A problem names the setting, but neither the content nor the path: otherwise a secret
 * that was put into NAME_FILE by mistake would be printed.
 */
const findText = (env: Environment, name: SettingName): Given => {
  const text = isSet(env[name]) ? env[name] : undefined;
  const file = env[`${name}_FILE`];
  if (!isSet(file)) return { text };
  if (!SETTINGS[name].secret) return { problem: `${name}: is not read from the file of ${name}_FILE; set ${name}` };
  if (text !== undefined) return { problem: `${name}: set ${name} or ${name}_FILE, not both` };
  try {
    const content = readFileSync(file, 'utf8').replace(/[\r\n]+$/, '');
    return isSet(content) ? { text: content } : { problem: `${name}: the file of ${name}_FILE is empty` };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { problem: `${name}: the file of ${name}_FILE cannot be read (${code ?? 'not a path'})` };
  }
};

const readOne = (env: Environment, program: Program, name: SettingName): { value?: unknown; problem?: string } => {
  const given = findText(env, name);
  if (given.problem !== undefined) return { problem: given.problem };
  const parsed = SETTINGS[name][program === 'stack' ? 'stack' : 'schema'].safeParse(given.text);
  if (parsed.success) return { value: parsed.data };
  const why = given.text === undefined ? 'must be set' : parsed.error.issues.map(({ message }) => message).join(', ');
  return { problem: `${name}: ${why}` };
};

/** Settings that are set together or not at all. */
const PAIRS: readonly (readonly [SettingName, SettingName])[] = [['SMTP_URL', 'MAIL_FROM']];

const isGiven = (env: Environment, name: SettingName): boolean => isSet(env[name]) || isSet(env[`${name}_FILE`]);

/** A problem for each of {@link PAIRS} among `names` of which one is missing. */
const pairProblems = (env: Environment, names: readonly SettingName[]): string[] =>
  PAIRS.filter((pair) => pair.every((name) => names.includes(name))).flatMap(([one, other]) => {
    if (isGiven(env, one) === isGiven(env, other)) return [];
    const [set, missing] = isGiven(env, one) ? [one, other] : [other, one];
    return `${missing}: must be set too, since ${set} is set`;
  });

/**
 * Reads the settings of a program, or the named ones of them, from an environment. An empty value counts as unset. Throws
 * {@link SettingsError}.
 */
export const readSettings = <P extends Program, N extends SettingOf<P> = SettingOf<P>>(
  env: Environment,
  program: P,
  names: readonly N[] = ALL.filter((name): name is N =>
    (SETTINGS[name].readBy as readonly Program[]).includes(program),
  ),
): SettingsOf<P, N> => {
  const read = names.map((name) => ({ name, ...readOne(env, program, name) }));
  const problems = new Set([...read.flatMap(({ problem }) => problem ?? []), ...pairProblems(env, names)]);
  if (problems.size > 0) throw new SettingsError(`Settings are wrong. ${[...problems].join('. ')}.`);
  return Object.fromEntries(read.map(({ name, value }) => [name, value])) as SettingsOf<P, N>;
};

/**
 * The problems of the settings that an environment has, one line each; for a program that starts others, which would
 * otherwise each end with the same message.
 */
export const settingProblems = (env: Environment, program: Program): string[] => [
  ...ALL.filter((name) => isGiven(env, name)).flatMap((name) => readOne(env, program, name).problem ?? []),
  ...pairProblems(env, ALL),
];
