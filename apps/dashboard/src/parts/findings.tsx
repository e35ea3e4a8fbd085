import type { Finding } from '../proof/finding.js';

/** What was verified, each with whether it holds. */
export const Findings = ({ findings }: { findings: readonly Finding[] }) => (
  <ul className="findings" role="status">
    {findings.map(({ holds, text }) => (
      <li key={text} className={holds ? 'holds' : 'fails'}>
        <strong>{holds ? 'Holds' : 'Does not hold'}</strong> {text}
      </li>
    ))}
  </ul>
);
