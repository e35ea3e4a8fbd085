import type { DossierProblem, DossierReport } from '@vat/evidence/verify-dossier';
import { count, counted } from '../../parts/format.js';

/** Problems of one meaning that are listed. */
const MAX_LISTED = 50;

type Verdict = { holds: boolean; word: string; text: string };

const VERDICTS: Record<Exclude<DossierReport['result'], 'holds_development'>, Verdict> = {
  holds: { holds: true, word: 'All holds.', text: 'Nothing was changed since the time-stamps, and all parts agree.' },
  does_not_hold: { holds: false, word: 'Does not hold.', text: '' },
  not_checked: { holds: false, word: 'Not verified.', text: '' },
};

const verdictOf = ({ result, counts }: DossierReport): Verdict => {
  if (result !== 'holds_development') return VERDICTS[result];
  const { stamps = 0, development_stamps: development = 0 } = counts;
  return {
    holds: true,
    word: development < stamps ? 'All holds, except some times.' : 'All holds, except the times.',
    text: `Nothing was changed, and all parts agree, but ${count(development)} of ${counted(stamps, 'time-stamp comes', 'time-stamps come')} from a development authority and prove nothing about time.`,
  };
};

const COUNTED = [
  ['checks', 'check', 'checks'],
  ['exchanges', 'exchange', 'exchanges'],
  ['proofs', 'proof', 'proofs'],
  ['anchors', 'anchor', 'anchors'],
  ['timestamps', 'time-stamp of a single check', 'time-stamps of single checks'],
  ['supplies', 'supply', 'supplies'],
] as const;

const ProblemGroup = ({ problems }: { problems: readonly DossierProblem[] }) => (
  <li className="fails">
    <strong>{problems[0]?.meaning}</strong> {problems[0]?.action}
    <ul className="problem-list">
      {problems.slice(0, MAX_LISTED).map(({ message }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes, and sentences may repeat
        <li key={index}>{message}</li>
      ))}
      {problems.length > MAX_LISTED && <li>and {count(problems.length - MAX_LISTED)} more of this kind</li>}
    </ul>
  </li>
);

/** The report of a verification: the result, the problems by what they mean, what was verified, and what to know about it. */
export const VerifyResult = ({ fileName, report }: { fileName: string; report: DossierReport }) => {
  const { holds, word, text } = verdictOf(report);
  const meanings = [...new Set(report.problems.map(({ meaning }) => meaning))];
  const unlisted = report.problem_count - report.problems.length;
  const counts = COUNTED.filter(([key]) => report.counts[key]).map(([key, one, many]) =>
    counted(report.counts[key] ?? 0, one, many),
  );
  return (
    <div className="verification" role={holds ? 'status' : 'alert'}>
      <ul className="findings">
        <li className={holds ? 'holds' : 'fails'}>
          <strong>{word}</strong> {fileName}
          {counts.length > 0 && ` (${counts.join(', ')})`}
          {report.problem_count > 0 && `: ${counted(report.problem_count, 'problem was', 'problems were')} found.`}
          {text !== '' && `. ${text}`}
          {report.reason && `: ${report.reason.message}`}
        </li>
        {meanings.map((meaning) => (
          <ProblemGroup key={meaning} problems={report.problems.filter((one) => one.meaning === meaning)} />
        ))}
        {unlisted > 0 && (
          <li className="fails">
            {counted(unlisted, 'further problem is', 'further problems are')} not listed. verify.py --json counts all.
          </li>
        )}
      </ul>
      {report.passed.length > 0 && (
        <ul className="findings">
          {report.passed.map((sentence) => (
            <li key={sentence} className="holds">
              <strong>Verified</strong> {sentence}
            </li>
          ))}
        </ul>
      )}
      {report.notes.length > 0 && (
        <>
          <h3>What to know about it</h3>
          <ul className="note-list">
            {report.notes.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
};
