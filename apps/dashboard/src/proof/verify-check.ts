import type { Api } from '../api/create-api.js';
import type { Anchor, Check, InclusionProof } from '../api/shapes.js';
import { bytesOf, canonicalForm, hexOf, sha256By } from './hash.js';
import { proveInclusion } from './prove-inclusion.js';

/** The result of one verification step. */
export type Finding = { holds: boolean; text: string };

/** Throws an error for the user when the browser provides no Web Crypto. */
export const assertWebCrypto = (crypto: Crypto): void => {
  if (!crypto.subtle) throw new Error('This browser can compute hashes only over https or on localhost.');
};

type VerifyDeps = { api: Api; crypto: Crypto };

/** Keys that the hash does not cover: itself, and values that are added later. */
const UNHASHED_KEYS = ['response_hash', 'timestamp', 'anchor'];

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
    text: `Leaf ${proof.leaf_index} of ${anchor.tree_size} in anchor ${anchor.seq}: the path of ${path.length} hashes leads to the root ${anchor.root}.`,
  };
};

/**
 * Verifies a check in the browser: the hash of the stored bytes, the equality of those bytes with the displayed data and,
 * once it is anchored, the inclusion of the hash in the tree of the anchor. Throws the errors of the calls, and an Error when
 * the browser has no Web Crypto.
 */
export const verifyCheck =
  (deps: VerifyDeps) =>
  async (check: Check): Promise<Finding[]> => {
    const { api, crypto } = deps;
    assertWebCrypto(crypto);
    const answer = await api.send('GET', `/checks/${check.id}/evidence`);
    const bytes = new Uint8Array(await answer.arrayBuffer());
    const hash = `sha256:${hexOf(await sha256By(crypto)(bytes))}`;
    const shown = Object.fromEntries(Object.entries(check).filter(([name]) => !UNHASHED_KEYS.includes(name)));
    return [
      {
        holds: hash === check.response_hash,
        text: `The SHA-256 of the ${bytes.byteLength} stored bytes, computed in this browser, is ${hash}.`,
      },
      {
        holds: canonicalForm(shown) === new TextDecoder().decode(bytes),
        text: 'The data on this page, in canonical form, equals the stored bytes.',
      },
      ...(check.anchor === null ? [] : [await verifyPosition(deps, check)]),
    ];
  };
