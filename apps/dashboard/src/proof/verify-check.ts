import type { Api } from '../api/create-api.js';
import type { Anchor, Check, InclusionProof } from '../api/shapes.js';
import { bytesOf, canonicalForm, hexOf, sha256By } from './hash.js';
import { proveInclusion } from './prove-inclusion.js';

/** One thing that was looked at, and whether it holds. */
export type Finding = { holds: boolean; text: string };

/** Throws, in words for the person at the screen, where a browser gives a page no means to compute hashes. */
export const needsWebCrypto = (crypto: Crypto): void => {
  if (!crypto.subtle) throw new Error('This browser computes hashes only over https, or on the service’s own machine.');
};

type VerifyDeps = { api: Api; crypto: Crypto };

/** What is left out of the hash: itself, and what is filled in later. */
const LEFT_OUT = ['response_hash', 'timestamp', 'anchor'];

const verifyPosition = async ({ api, crypto }: VerifyDeps, check: Check): Promise<Finding> => {
  const proof = await api.call<InclusionProof>('GET', `/checks/${check.id}/anchor`);
  const anchor = await api.call<Anchor>('GET', `/anchors/${proof.anchor_id}`);
  const leaf = bytesOf(check.response_hash.replace('sha256:', ''));
  const path = proof.path.map(bytesOf);
  const root =
    leaf === null || path.includes(null)
      ? null
      : await proveInclusion(sha256By(crypto))({
          leaf,
          index: proof.leaf_index,
          size: anchor.tree_size,
          path: path.filter((step) => step !== null),
        });
  return {
    holds: root !== null && hexOf(root) === anchor.root,
    text: `Leaf ${proof.leaf_index} of the ${anchor.tree_size} in anchor ${anchor.seq}: the path of ${path.length} hashes leads to its root ${anchor.root}.`,
  };
};

/**
 * Recomputes in this browser what the service claims about a check: that the stored bytes have the hash, that what is
 * shown is what those bytes say, and, once it is anchored, that the hash is in the anchor's tree. Throws what the calls
 * throw, and an Error where the browser has no Web Crypto.
 */
export const verifyCheck =
  (deps: VerifyDeps) =>
  async (check: Check): Promise<Finding[]> => {
    const { api, crypto } = deps;
    needsWebCrypto(crypto);
    const answer = await api.send('GET', `/checks/${check.id}/evidence`);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const hash = `sha256:${hexOf(await sha256By(crypto)(bytes))}`;
    const shown = Object.fromEntries(Object.entries(check).filter(([name]) => !LEFT_OUT.includes(name)));
    return [
      {
        holds: hash === check.response_hash,
        text: `SHA-256 of the ${bytes.byteLength} stored bytes, computed here, is ${hash}.`,
      },
      {
        holds: canonicalForm(shown) === new TextDecoder().decode(bytes),
        text: 'What this page shows, in canonical form, is those bytes to the letter.',
      },
      ...(check.anchor === null ? [] : [await verifyPosition(deps, check)]),
    ];
  };
