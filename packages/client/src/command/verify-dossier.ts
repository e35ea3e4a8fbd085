import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { DossierReport } from '@vat/evidence/verify-dossier';
import { bytesOf, type Command, EXIT, type ExitCode, UsageError } from './command.js';

/** As those of `verify.py`. */
const EXITS: Record<DossierReport['result'], ExitCode> = {
  holds: EXIT.ok,
  holds_development: EXIT.ok,
  does_not_hold: EXIT.negative,
  not_checked: EXIT.failed,
};

/** The last line. Of time-stamps from before TSA_URL was set, it says how many they are. */
export const VERDICTS: Record<DossierReport['result'], (counts: DossierReport['counts']) => string> = {
  holds: () => 'The dossier holds.',
  holds_development: ({ stamps, development_stamps: development }) =>
    `The dossier holds, but ${development} of its ${stamps} time-stamps come from a development authority and prove nothing about time.`,
  does_not_hold: () => 'The dossier does not hold.',
  not_checked: () => 'The dossier could not be checked.',
};

/** What the JSON object is, as `verify.py --json` prints it. */
const FORMAT = { format: 'vat-evidence-verification', version: 1 };

/** A text as one word of a shell. */
const quoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** The zip file. Throws {@link UsageError} for a folder, and when it cannot be read. */
const readDossier = async (file: string): Promise<Blob> => {
  const isFolder = await stat(file).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (isFolder)
    throw new UsageError(
      `${file} is a folder. Name the dossier.zip it was unpacked from, or run: python3 -I ${quoted(path.join(file, 'verify.py'))}`,
    );
  return new Blob([await bytesOf(file)]);
};

/**
 * Names in a dossier are not trusted: what `verify.py` escapes, such as control characters, is escaped, so that the terminal does not
 * interpret it.
 */
const printable = (text: string): string =>
  text.replace(/(?! )[\p{C}\p{Z}]/gu, (char) => `\\u${char.codePointAt(0)?.toString(16).padStart(4, '0')}`);

/** A report for people, in the order of `verify.py`. */
const showReport = ({ result, reason, counts, passed, notes, problems, ...more }: DossierReport): string[] =>
  [
    ...passed.map((sentence) => `ok     ${sentence}`),
    ...problems.flatMap(({ message, meaning, action }) => [`WRONG  ${message}`, `       ${meaning} ${action}`]),
    ...(more.problem_count > problems.length ? [`WRONG  … and ${more.problem_count - problems.length} more`] : []),
    ...notes.map((sentence) => `note   ${sentence}`),
    ...(reason ? [reason.message] : []),
    VERDICTS[result](counts),
  ].map(printable);

/** `vat verify` */
export const verifyDossierFile: Command = {
  takes: ['DOSSIER'],
  summary: 'Verifies a dossier.zip without a network: the same checks and the same result as verify.py',
  options: {},
  run: async (args, { print, json, signal }) => {
    const dossier = await readDossier(args.positionals[0] ?? '');
    // Loaded here because it is large, and other commands do not need it.
    const { verifyDossier } = await import('@vat/evidence/verify-dossier');
    signal.throwIfAborted();
    const interrupted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason));
    });
    const report = await Promise.race([verifyDossier(dossier), interrupted]);
    print(...(json ? [JSON.stringify({ ...FORMAT, ...report, exit_code: EXITS[report.result] })] : showReport(report)));
    return EXITS[report.result];
  },
};
