import type { StampFacts } from '@vat/domain';
import { verifyTimestamp } from '../timestamp/verify-timestamp.js';

type StoredToken = {
  token: Uint8Array;
  /** SHA-256 of what was stamped. */
  digest: Uint8Array;
  /** What was noted of the token. */
  facts: StampFacts | null;
  /** PEM. A token of the development authority is held against its own root, which it carries. */
  trustedRoots: readonly string[];
};

/** What is wrong with a stored token: it does not verify, or says something else than was noted of it; null when it holds. */
export const judgeToken = ({ token: tokenBytes, digest, facts, trustedRoots }: StoredToken): string | null => {
  try {
    const roots = facts?.development ? [] : trustedRoots;
    const token = verifyTimestamp({ tokenBytes, digest, trustedRoots: roots });
    const agrees =
      facts !== null &&
      facts.genTime.getTime() === token.genTime.getTime() &&
      facts.accuracyMs === token.accuracyMs &&
      facts.serial === token.serial &&
      facts.policy === token.policy &&
      facts.authority === token.authority &&
      facts.development === token.development;
    return agrees ? null : 'what is noted of the token is not what it says';
  } catch (error) {
    return `the token does not verify: ${error instanceof Error ? error.message : String(error)}`;
  }
};
