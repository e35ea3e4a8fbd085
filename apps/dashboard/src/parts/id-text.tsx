import { CopyButton } from './copy-button.js';

/** An id or a hash, whole, with a button to copy it. */
export const IdText = ({ id, what }: { id: string; what: string }) => (
  <span className="id-text">
    <code>{id}</code>
    <CopyButton text={id} what={what} />
  </span>
);
