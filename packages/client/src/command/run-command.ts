import { createClient } from '../client.js';
import { connectionFrom } from '../connection.js';
import { AbandonedError, ApiError, BatchPendingError, PendingError } from '../errors.js';
import { checkBatch, checkCoverage } from './check-files.js';
import { checkNumber } from './check-number.js';
import {
  type Command,
  type Context,
  EXIT,
  type ExitCode,
  helpOf,
  parseCommand,
  textOf,
  UsageError,
} from './command.js';
import { explainError } from './explain-error.js';
import { listen } from './listen.js';
import { mcp } from './mcp.js';
import { verifyDossierFile } from './verify-dossier.js';

const COMMANDS: Readonly<Record<string, Command>> = {
  check: checkNumber,
  batch: checkBatch,
  coverage: checkCoverage,
  listen,
  verify: verifyDossierFile,
  mcp,
};

const HELP = [
  ...Object.entries(COMMANDS).map(
    ([name, { takes, summary }]) => `  vat ${[name, ...takes].join(' ').padEnd(16)}${summary}`,
  ),
  '',
  'VAT_API_URL is the address of the service, VAT_API_KEY the key. vat COMMAND --help shows the options.',
  'Exit codes: 0 good, 1 not good (not valid, not covered, does not hold), 2 not done, 3 no answer yet.',
];

/** Where the command writes, and what it reads of the process. */
export type Process = {
  env: Readonly<Record<string, string | undefined>>;
  print: (text: string) => void;
  /** Prints as `print` does, and resolves when it was written. Rejects when it could not be. */
  write: (text: string) => Promise<void>;
  note: (text: string) => void;
  signal: AbortSignal;
};

/** What to run to see the end of what is pending. */
const continuation = (error: unknown): string | null => {
  if (error instanceof PendingError) return `vat check ${error.requestId}`;
  return error instanceof BatchPendingError ? `vat batch ${error.batchId} --wait` : null;
};

/** An error as JSON, in the form of the service's own. */
const errorObject = (error: unknown): Record<string, unknown> => {
  const name = error instanceof UsageError ? 'USAGE' : ((error as { name?: string }).name ?? 'Error');
  const code = error instanceof ApiError ? error.code : name;
  const fields = error instanceof ApiError ? error.fields : {};
  const request = error instanceof AbandonedError ? { request: error.request } : {};
  const next = continuation(error);
  return { error: { ...fields, ...request, code, message: explainError(error), ...(next ? { next } : {}) } };
};

const report = (error: unknown, json: boolean, { print, note }: Pick<Process, 'print' | 'note'>): ExitCode => {
  const next = continuation(error);
  if (json) print(JSON.stringify(errorObject(error)));
  else {
    note(`vat: ${explainError(error)}`);
    if (next) note(`vat: to see the outcome, run: ${next}`);
  }
  return next ? EXIT.pending : EXIT.failed;
};

/** Runs one command and resolves to its exit code. Never rejects. */
export const runCommand = async (
  words: readonly string[],
  { env, print, write, note, signal }: Process,
): Promise<ExitCode> => {
  const [name = '', ...rest] = words;
  // Also when the arguments cannot be parsed, a program that wanted JSON gets it.
  const json = words.includes('--json');
  try {
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (['', 'help', '--help', '-h'].includes(name)) {
      for (const line of HELP) print(line);
      return name === '' ? EXIT.failed : EXIT.ok;
    }
    if (!command)
      throw new UsageError(`There is no command ${name}. Write one of: ${Object.keys(COMMANDS).join(', ')}.`);
    const args = parseCommand(name, command, rest);
    if (args.flags.help) {
      for (const line of helpOf(name, command)) print(line);
      return EXIT.ok;
    }
    const given = { apiKey: textOf(args, 'api-key'), baseUrl: textOf(args, 'api-url') };
    const context: Context = {
      client: () => createClient(connectionFrom(env, given), { userAgent: 'vat-command' }),
      print: (...lines) => print(lines.join('\n')),
      write,
      note,
      json,
      signal,
    };
    return await command.run(args, context);
  } catch (error) {
    return report(error, json, { print, note });
  }
};
