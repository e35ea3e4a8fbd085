import { canonicalForm } from '../canonical-form.js';
import type { Anchor } from './anchor.js';
import { judgeAnchor } from './judge-anchor.js';

/**
 * The bytes of an anchor: its JCS form, which is what is hashed, time-stamped and kept. Throws an Error when it is not an
 * anchor (a key too many would change the hash and be seen by nobody).
 */
export const encodeAnchor = (anchor: Anchor): Buffer => {
  const wrong = judgeAnchor(anchor);
  if (wrong !== null) throw new Error(`not an anchor: ${wrong}`);
  return canonicalForm(anchor);
};
