import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { Client } from '../client.js';

/** How the command ends. */
export const EXIT = {
  /** Done, and the result is good: the number is valid, every line is, the dossier holds. */
  ok: 0,
  /** Done, and the result is not good. */
  negative: 1,
  /** Not done: wrong arguments, a refusal of the service, or no answer. */
  failed: 2,
  /** Not finished: the work continues in the service. */
  pending: 3,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The command line is wrong; the message says what to write. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What the command was given. */
export type Arguments = { positionals: string[]; flags: Readonly<Record<string, string | boolean | undefined>> };

/** What a command uses of its surroundings. */
export type Context = {
  /** Throws ConfigurationError when the key or the address is missing. */
  client: () => Client;
  /** Prints lines to standard output: the result. */
  print: (...lines: string[]) => void;
  /** Prints a line and resolves when it was written. Rejects when it could not be. */
  write: (line: string) => Promise<void>;
  /** Prints a line to standard error: progress, and what a program that reads the result does not need. */
  note: (line: string) => void;
  /** `--json`: print the result as JSON. */
  json: boolean;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
};

/** An option: what its value is called, or null for one without a value, and what it means. */
type Option = readonly [value: string | null, meaning: string];

export type Command = {
  /** The words after the name of the command, such as `NUMBER`. */
  takes: readonly string[];
  summary: string;
  options: Readonly<Record<string, Option>>;
  run: (args: Arguments, context: Context) => Promise<ExitCode>;
};

/** The options of every command. */
export const COMMON: Readonly<Record<string, Option>> = {
  json: [null, 'print JSON, for programs'],
  'api-url': ['URL', 'the address of the service; VAT_API_URL by default'],
  'api-key': ['KEY', 'the key; VAT_API_KEY by default, which other users of the machine cannot see'],
  help: [null, 'show this help'],
};

const column = (name: string, [value]: Option): string => `  --${name}${value === null ? '' : ` ${value}`}`;

/** The lines that explain options, in two columns. */
const explain = (options: Readonly<Record<string, Option>>): string[] => {
  const width = Math.max(...Object.entries(options).map(([name, option]) => column(name, option).length)) + 2;
  return Object.entries(options).map(([name, option]) => `${column(name, option).padEnd(width)}${option[1]}`);
};

/** The help of one command. */
export const helpOf = (name: string, { takes, summary, options }: Command): string[] => [
  `vat ${[name, ...takes].join(' ')} [options]`,
  '',
  `${summary}.`,
  '',
  ...explain({ ...options, ...COMMON }),
];

/** Throws {@link UsageError} for an unknown option, one without its value, and a missing or surplus argument. */
export const parseCommand = (name: string, { takes, options }: Command, words: string[]): Arguments => {
  const fail = (why: string) => new UsageError(`${why} Write: vat ${[name, ...takes].join(' ')} [options]`);
  const declared = Object.entries({ ...options, ...COMMON }).map(
    ([option, [value]]) => [option, { type: value === null ? 'boolean' : 'string' }] as const,
  );
  const parsed = (() => {
    try {
      return parseArgs({ args: words, options: Object.fromEntries(declared), allowPositionals: true });
    } catch (error) {
      throw fail(`${(error as Error).message.replace(/\.$/, '')}.`);
    }
  })();
  const { positionals, values } = parsed;
  const flags = values as Arguments['flags'];
  if (flags.help) return { positionals, flags };
  const missing = takes[positionals.length];
  if (missing) throw fail(`${missing} is missing.`);
  if (positionals.length > takes.length)
    throw fail(`Unexpected argument ${positionals.slice(takes.length).join(' ')}.`);
  return { positionals, flags };
};

/** The text of an option; undefined without it. */
export const textOf = ({ flags }: Arguments, name: string): string | undefined => {
  const value = flags[name];
  return typeof value === 'string' ? value : undefined;
};

/** Why a file cannot be read, by the code of the error. */
const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'it may not be read',
};

/** The bytes of a file that an argument names. Throws {@link UsageError} when it cannot be read. */
export const bytesOf = (file: string): Promise<Buffer<ArrayBuffer>> =>
  readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${file} cannot be read: ${UNREADABLE[error.code ?? ''] ?? error.message}.`);
  });

/** The whole number of an option; undefined without it. Throws {@link UsageError}. */
export const numberOf = (args: Arguments, name: string): number | undefined => {
  const text = textOf(args, name);
  if (text === undefined) return undefined;
  if (!/^\d{1,7}$/.test(text)) throw new UsageError(`--${name} is a whole number, not ${JSON.stringify(text)}.`);
  return Number(text);
};

/** The seconds of an option in milliseconds; undefined without it. Throws {@link UsageError}. */
export const durationOf = (args: Arguments, name: string): number | undefined => {
  const seconds = numberOf(args, name);
  return seconds === undefined ? undefined : seconds * 1_000;
};

/** The choice of an option; undefined without it. Throws {@link UsageError}. */
export const choiceOf = <Choice extends string>(
  args: Arguments,
  name: string,
  choices: readonly Choice[],
): Choice | undefined => {
  const text = textOf(args, name);
  const choice = choices.find((one) => one === text);
  if (text !== undefined && choice === undefined)
    throw new UsageError(`--${name} is one of ${choices.join(', ')}, not ${JSON.stringify(text)}.`);
  return choice;
};

/** The first rows of a list. */
export const take = async <Row>(rows: AsyncIterable<Row>, limit: number): Promise<Row[]> => {
  const taken: Row[] = [];
  for await (const row of rows) {
    taken.push(row);
    if (taken.length === limit) break;
  }
  return taken;
};

/** Lines of a table with two columns. Rows without a value are left out. */
export const table = (rows: readonly (readonly [name: string, value: string | null | undefined])[]): string[] => {
  const shown = rows.flatMap(([name, value]) => (value ? [[name, value] as const] : []));
  const width = Math.max(0, ...shown.map(([name]) => name.length)) + 2;
  return shown.map(([name, value]) => `${name.padEnd(width)}${value}`);
};
