import { ADVICE, PROBLEM_KINDS, type ProblemCode } from './problem-kinds.js';

/** One problem, as `verify.py --json` prints it. */
export type DossierProblem = {
  code: ProblemCode;
  /** What is wrong, and with which file, check or number. */
  message: string;
  meaning: string;
  action: string;
  file: string | null;
  check_id: string | null;
  vat_number: string | null;
};

/** Why a dossier could not be verified. */
type NotCheckedCode =
  | 'no_dossier'
  | 'not_a_zip'
  | 'not_a_dossier'
  | 'too_large'
  | 'insecure_page'
  | 'unsupported_stamp';

/** The result of a verification: the same keys and codes as in the output of `verify.py --json`. */
export type DossierReport = {
  /** `holds_development`: it holds, but development time-stamps prove nothing about time. */
  result: 'holds' | 'holds_development' | 'does_not_hold' | 'not_checked';
  reason: { code: NotCheckedCode; message: string } | null;
  /** `stamps`: all time-stamps that hold; `development_stamps`: those of them that prove nothing about time. */
  counts: Record<string, number>;
  /** At most {@link MAX_LISTED}. */
  problems: DossierProblem[];
  problem_count: number;
  passed: string[];
  notes: string[];
};

const MAX_LISTED = 1_000;

/** Thrown when a dossier cannot be verified; the message is one sentence for the user. */
export class NotChecked extends Error {
  override name = 'NotChecked';
  constructor(
    readonly code: NotCheckedCode,
    message: string,
  ) {
    super(message);
  }
}

/** What the sentence of a problem names. `file` and `check_id` also locate it. */
type Named = Readonly<Record<string, unknown>>;

/** A report that is being filled. */
export type ReportBuilder = {
  problem: (code: ProblemCode, named: Named) => void;
  /** A step without a problem so far; later steps are left out, as the sentence would not be true. */
  passed: (sentence: string) => void;
  note: (sentence: string) => void;
  count: (counts: Readonly<Record<string, number>>) => void;
  /** The VAT number of each check, by its id. */
  numbers: Map<string, string>;
  finish: (end: { reason: DossierReport['reason']; development: number }) => DossierReport;
};

/** A number and its noun, or the sentence from there on: `1 check`, `2 checks`. */
export const counted = (n: number, one: string, many: string): string => `${n} ${n === 1 ? one : many}`;

const textOf = (value: unknown): string | null => (value === undefined || value === null ? null : String(value));

const resultOf = (problems: number, reason: DossierReport['reason'], development: number): DossierReport['result'] => {
  if (problems > 0) return 'does_not_hold';
  if (reason !== null) return 'not_checked';
  return development > 0 ? 'holds_development' : 'holds';
};

export const openReport = (): ReportBuilder => {
  const problems: DossierProblem[] = [];
  const [passed, notes]: string[][] = [[], []];
  const counts: Record<string, number> = {};
  const numbers = new Map<string, string>();
  let count = 0;
  return {
    numbers,
    problem: (code, named) => {
      count += 1;
      if (problems.length >= MAX_LISTED) return;
      const [sentence, advice] = PROBLEM_KINDS[code];
      const file = textOf(named.file);
      const check_id = textOf(named.check_id) ?? file?.match(/chk_[0-9a-z]+/)?.[0] ?? null;
      const vat_number = (check_id !== null && numbers.get(check_id)) || null;
      const what = sentence.replace(/\{(\w+)\}/g, (_, name: string) => String(named[name]));
      const message = vat_number === null ? what : `${what} (VAT number ${vat_number})`;
      problems.push({ code, message, ...ADVICE[advice], file, check_id, vat_number });
    },
    passed: (sentence) => {
      if (count === 0) passed?.push(sentence);
    },
    note: (sentence) => void notes?.push(sentence),
    count: (more) => void Object.assign(counts, more),
    finish: ({ reason, development }) => ({
      result: resultOf(count, reason, development),
      reason: count > 0 ? null : reason,
      ...{ counts, problems, problem_count: count, passed: passed ?? [], notes: notes ?? [] },
    }),
  };
};
