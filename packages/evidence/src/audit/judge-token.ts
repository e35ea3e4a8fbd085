import type { StampFacts } from '@vat/domain';
import type { Stamped } from '../timestamp/judge-info.js';
import { verifyTimestamp } from '../timestamp/verify-timestamp.js';

type StoredToken = {
  token: Uint8Array;
  /** What it has to be over. */
  stamped: Stamped;
  /** What was noted of the token. */
  facts: StampFacts | null;
  /** When what was stamped says that it was made; null where that is not known any more. */
  madeAt: Date | null;
  /** PEM. A token of the development authority is held against its own root, which it carries. */
  trustedRoots: readonly string[];
};

/** How far the clock of an authority that is believed may be behind ours: five minutes, and its accuracy of a minute at most. */
const MAX_BEHIND_MS = 360_000;

/**
 * What is wrong with a stored token: it does not verify, says something else than was noted of it, or is older than what it
 * stamps; null when it holds.
 */
export const judgeToken = ({ token: tokenBytes, stamped, facts, madeAt, trustedRoots }: StoredToken): string | null => {
  try {
    const roots = facts?.development ? [] : trustedRoots;
    const token = verifyTimestamp({ tokenBytes, ...stamped, trustedRoots: roots });
    const agrees =
      facts !== null &&
      facts.genTime.getTime() === token.genTime.getTime() &&
      facts.accuracyMs === token.accuracyMs &&
      facts.serial === token.serial &&
      facts.policy === token.policy &&
      facts.authority === token.authority &&
      facts.development === token.development;
    if (!agrees) return 'what is noted of the token is not what it says';
    return madeAt !== null && token.genTime.getTime() + MAX_BEHIND_MS < madeAt.getTime()
      ? `the token is of ${token.genTime.toISOString()}, before what it stamps was made (${madeAt.toISOString()})`
      : null;
  } catch (error) {
    return `the token does not verify: ${error instanceof Error ? error.message : String(error)}`;
  }
};
