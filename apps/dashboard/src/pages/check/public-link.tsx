import type { Check, CheckLink } from '../../api/shapes.js';
import { useApiQuery } from '../../api/use-api-query.js';
import { CopyButton } from '../../parts/button.js';
import { useBoot } from '../../session/session.js';

/** The public link of a check. Renders nothing while public verification is off. */
export const PublicLink = ({ check: { id } }: { check: Check }) => {
  const isOn = useBoot().data?.public_verification === true;
  // Loaded before it is copied: browsers allow copying only while they handle the press.
  const link = useApiQuery<CheckLink>('checks', `/checks/${id}/link`, { enabled: isOn, every: false });
  if (!link.data) return null;
  return (
    <>
      <h3>Public link</h3>
      <p className="hint">
        Anyone with this link can view and verify this check without an account. They can read the entire check,
        including your reference, your input and the trader details you sent.
      </p>
      <p>
        <code>{link.data.url}</code>
      </p>
      <div className="actions">
        <CopyButton text={link.data.url} what="the public link" label="Copy public link" />
      </div>
    </>
  );
};
