import type { Anchor } from '../api/shapes.js';
import { canonicalForm } from './canonical-form.js';
import { hexOf } from './hex-of.js';
import { sha256By } from './sha256-by.js';

/** The SHA-256 of an anchor's seven keys in canonical form, as hex: what the next anchor names as `prev_anchor_hash`. */
export const hashAnchor =
  (crypto: Crypto) =>
  async ({ v, seq, alg, closed_at, tree_size, root, prev_anchor_hash }: Anchor): Promise<string> => {
    const form = canonicalForm({ v, seq, alg, closed_at, tree_size, root, prev_anchor_hash });
    return hexOf(await sha256By(crypto)(new TextEncoder().encode(form)));
  };
