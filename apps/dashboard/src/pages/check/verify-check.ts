import type { Api } from '../../api/create-api.js';
import type { Check } from '../../api/shapes.js';
import { canonicalForm } from './canonical-form.js';
import { hexOf } from './hex-of.js';

/** One thing that was looked at, and whether it holds. */
export type Finding = { holds: boolean; text: string };

/** What is left out of the hash: itself, and what is filled in later. */
const LEFT_OUT = ['response_hash', 'timestamp', 'anchor'];

/**
 * Recomputes in this browser what the service claims about a check: that the stored bytes have the hash, and that what is
 * shown is what those bytes say. Throws an Error where the browser has no Web Crypto, and what the call throws.
 */
export const verifyCheck =
  ({ api, crypto }: { api: Api; crypto: Crypto }) =>
  async (check: Check): Promise<Finding[]> => {
    if (!crypto.subtle)
      throw new Error('This browser computes hashes only over https, or on the service’s own machine.');
    const bytes = await (await api.send('GET', `/checks/${check.id}/evidence`)).arrayBuffer();
    const hash = `sha256:${hexOf(await crypto.subtle.digest('SHA-256', bytes))}`;
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
    ];
  };
