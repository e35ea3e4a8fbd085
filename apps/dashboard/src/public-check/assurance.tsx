import type { PublicVerification } from '../api/shapes.js';
import type { Finding } from '../proof/finding.js';

type AssuranceProps = { findings: readonly Finding[]; data: PublicVerification; isTest: boolean };

/** The outcome of the verification in one sentence. */
export const Assurance = ({ findings, data, isTest }: AssuranceProps) => {
  if (!findings.every(({ holds }) => holds))
    return (
      <p role="alert" className="assurance bad">
        <strong>Verification failed.</strong> The data was changed after it was recorded, or it is damaged. Do not rely
        on this check.
      </p>
    );
  if (isTest)
    return (
      <p role="status" className="assurance warn">
        <strong>This is a test check.</strong> Its data comes from a sandbox and proves nothing about the VAT number.
      </p>
    );
  return data.proof ? (
    <p role="status" className="assurance good">
      <strong>Verified in your browser.</strong> The check is in the service’s chain of anchors and has not changed
      since.
    </p>
  ) : (
    <p role="status" className="assurance warn">
      <strong>The hash is verified in your browser.</strong> The check is not in an anchor yet.
    </p>
  );
};
