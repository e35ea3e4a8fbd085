import type { Anchor } from '../api/shapes.js';
import { canonicalForm, hexOf, sha256By } from './hash.js';
import { assertWebCrypto, type Finding } from './verify-check.js';

/** The SHA-256 of the seven keys of an anchor in canonical form, as hex: the `prev_anchor_hash` of the next anchor. */
const hashAnchor =
  (crypto: Crypto) =>
  async ({ v, seq, alg, closed_at, tree_size, root, prev_anchor_hash }: Anchor): Promise<string> => {
    const form = canonicalForm({ v, seq, alg, closed_at, tree_size, root, prev_anchor_hash });
    return hexOf(await sha256By(crypto)(new TextEncoder().encode(form)));
  };

const NO_ANCHOR = '0'.repeat(64);

/** Verifies that each anchor contains the hash of its predecessor. The anchors may be in any order. */
export const verifyChain =
  (crypto: Crypto) =>
  async (anchors: readonly Anchor[]): Promise<Finding[]> => {
    assertWebCrypto(crypto);
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
          ? `Anchor ${anchor.seq} contains the hash of anchor ${before.seq}, ${expected}.`
          : 'Anchor 1 is the first anchor and has no predecessor.',
      });
    }
    return findings;
  };
