import { GRADE_MEANINGS } from '../pages/check/evidence-grade.js';
import { SOURCE_NAMES } from '../pages/check/names.js';
import { countryName } from '../parts/format.js';
import { Card, DateTime, Facts, IdText, Status } from '../parts/text.js';
import type { HashedCheck } from '../proof/verify-public-check.js';

/** What the check says. Reference, input and trader of the caller are left out: they are of no use to other readers. */
export const ResultCard = ({ check }: { check: HashedCheck }) => (
  <Card title="Result" hint="What the sources said at the time of the check, as the service recorded it.">
    <Facts
      facts={{
        Checked: (
          <>
            <DateTime at={check.checked_at} seconds /> <code>{check.checked_at}</code>
          </>
        ),
        'Member state': `${check.country_code} · ${countryName(check.country_code)}`,
        'Evidence grade': check.evidence_grade && (
          <>
            <Status word={check.evidence_grade} /> {GRADE_MEANINGS[check.evidence_grade]}
          </>
        ),
        Name: check.name,
        Address: check.address && <span className="lines">{check.address}</span>,
        Requester: check.requester_vat_number,
        'Consultation number': check.consultation_number,
        Sources: (
          <ul>
            {check.checks.map(({ source, outcome, contradicts, started_at }) => (
              <li key={`${source} ${started_at}`}>
                {SOURCE_NAMES[source]} <Status word={outcome} /> {contradicts && <Status word="contradicts" />}
              </li>
            ))}
          </ul>
        ),
        'Check ID': <IdText id={check.id} what="the check ID" />,
      }}
    />
    {check.name === null && check.verdict === 'valid' && (
      <p className="hint">This member state does not disclose names and addresses.</p>
    )}
  </Card>
);
