import { CopyButton } from './copy-button.js';

/** Something that is shown this once: in full, to be copied now. */
export const SecretOnce = ({ what, text }: { what: string; text: string }) => (
  <div className="secret" role="status">
    <p>
      <strong>Copy the {what} now.</strong> It is shown this once and kept nowhere in readable form.
    </p>
    <div className="secret-row">
      <code>{text}</code>
      <CopyButton text={text} what={what} />
    </div>
  </div>
);
