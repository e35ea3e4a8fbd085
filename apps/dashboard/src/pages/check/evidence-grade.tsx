import { type GradedCheck, gradeEvidence } from '@vat/domain/evidence-grade';
import type { Check } from '../../api/shapes.js';
import { Status } from '../../parts/text.js';

type Grade = NonNullable<Check['evidence_grade']>;

/** What each grade means. */
export const GRADE_MEANINGS: Record<Grade, string> = {
  none: 'The number is not valid.',
  basic: 'VIES says that the number is valid. No source states name and address.',
  named: 'VIES says that the number is valid, and a source states name and address.',
  corroborated: 'A national register lists the trader as registered for VAT.',
  qualified:
    'VIES or eVatR issued a proof of this lookup, and every trader detail you sent agrees according to VIES, eVatR or our comparison.',
};

/** Why the grade is not higher, or what would raise it. */
const remark = (check: Check): string | null => {
  const { evidence_grade: grade, checks, requester_vat_number } = check;
  if (grade === 'none' || grade === 'qualified') return null;
  if (checks.some(({ contradicts }) => contradicts)) return 'A source contradicts the verdict, which limits the grade.';
  // An absent detail is absent in JSON, not undefined.
  const withProof = { ...check, requester_vat_number: check.vat_number, consultation_number: 'any' } as GradedCheck;
  if (gradeEvidence(withProof) !== 'qualified')
    return 'It is not “qualified” because not every trader detail you sent agrees.';
  return requester_vat_number === null
    ? 'Send your own VAT number as requester to get a consultation number, which can raise it to “qualified”.'
    : null;
};

/** A grade in plain words. That of a test check has no meaning. */
export const EvidenceGrade = ({ check, grade }: { check: Check; grade: Grade }) => (
  <>
    <Status word={grade} /> {!check.test && `${GRADE_MEANINGS[grade]} ${remark(check) ?? ''}`}
  </>
);
