import { canonicalForm } from '../canonical-form.js';
import type { Anchor } from './anchor.js';
import { judgeAnchor } from './judge-anchor.js';

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * An anchor from its kept bytes. Throws an Error unless they are the JCS form of an anchor to the byte, so that what was
 * read can be hashed again from its fields.
 */
export const decodeAnchor = (bytes: Uint8Array): Anchor => {
  const value: unknown = JSON.parse(decoder.decode(bytes));
  const wrong = judgeAnchor(value);
  if (wrong !== null) throw new Error(`not an anchor: ${wrong}`);
  if (!canonicalForm(value).equals(bytes)) throw new Error('not the canonical form of an anchor');
  return value as Anchor;
};
