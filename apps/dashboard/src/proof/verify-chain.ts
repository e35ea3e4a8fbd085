import type { Anchor } from '../api/shapes.js';
import { canonicalForm, hexOf, sha256By } from './hash.js';
import { type Finding, needsWebCrypto } from './verify-check.js';

/** The SHA-256 of an anchor's seven keys in canonical form, as hex: what the next anchor names as `prev_anchor_hash`. */
const hashAnchor =
  (crypto: Crypto) =>
  async ({ v, seq, alg, closed_at, tree_size, root, prev_anchor_hash }: Anchor): Promise<string> => {
    const form = canonicalForm({ v, seq, alg, closed_at, tree_size, root, prev_anchor_hash });
    return hexOf(await sha256By(crypto)(new TextEncoder().encode(form)));
  };

const NO_ANCHOR = '0'.repeat(64);

/** Whether each of these anchors names the hash of the one before it. They may come in any order. */
export const verifyChain =
  (crypto: Crypto) =>
  async (anchors: readonly Anchor[]): Promise<Finding[]> => {
    needsWebCrypto(crypto);
    const inOrder = anchors.toSorted((one, other) => one.seq - other.seq);
    const findings: Finding[] = [];
    for (const [index, anchor] of inOrder.entries()) {
      const before = inOrder[index - 1];
      if (!before && anchor.seq !== 1) continue;
      const expected = before ? await hashAnchor(crypto)(before) : NO_ANCHOR;
      const follows = !before || anchor.seq === before.seq + 1;
      findings.push({
        holds: follows && anchor.prev_anchor_hash === expected,
        text: before
          ? `Anchor ${anchor.seq} names the hash of anchor ${before.seq}, ${expected}.`
          : 'Anchor 1 is the first and names none before it.',
      });
    }
    return findings;
  };
