import { type Anchor, evaluateAnchor, hashAnchor, NO_ANCHOR_HASH } from './anchor.js';

/** The end of a chain: the last anchor's `seq` and hash. */
export type ChainEnd = Pick<Anchor, 'seq' | 'closed_at'> & { hash: string };

/** One fault. `index` is the position of the anchor in the input, from 0; `seq` is the value in the anchor. */
type ChainFault = {
  index: number;
  seq: number | null;
  fault: 'ill_formed' | 'wrong_seq' | 'wrong_prev_anchor_hash' | 'closed_too_early';
  /** One sentence for the operator. */
  detail: string;
};

/** The result of verifying a chain, which is valid if there are no faults. `end` is null if there are no anchors. */
type ChainReport = { anchors: number; end: ChainEnd | null; faults: ChainFault[] };

/** The end of a chain whose last anchor is `anchor`. Throws if it is not an anchor. */
export const chainEndOf = (anchor: Anchor): ChainEnd => ({
  seq: anchor.seq,
  closed_at: anchor.closed_at,
  hash: hashAnchor(anchor),
});

/** What is wrong with the link of an anchor to the end of the chain before it, null for the first: kind and detail of each fault. */
export const linkFaults = (anchor: Anchor, before: ChainEnd | null) => {
  const seq = (before?.seq ?? 0) + 1;
  const hash = before?.hash ?? NO_ANCHOR_HASH;
  return [
    anchor.seq === seq ? null : (['wrong_seq', `seq is ${anchor.seq} where ${seq} follows`] as const),
    anchor.prev_anchor_hash === hash
      ? null
      : (['wrong_prev_anchor_hash', `prev_anchor_hash is ${anchor.prev_anchor_hash}, not ${hash}`] as const),
    before === null || anchor.closed_at >= before.closed_at
      ? null
      : (['closed_too_early', `closed ${anchor.closed_at}, before its predecessor (${before.closed_at})`] as const),
  ].filter((difference) => difference !== null);
};

/**
 * Recomputes the chain over `anchors` (oldest first, without gaps) and reports every fault. `after` is the end of a chain
 * that was verified earlier, to continue from there. A changed anchor is reported at the next one, whose link does not
 * match any more; a change of the newest anchor is visible only in its time-stamp.
 */
export const verifyAnchorChain = async (
  anchors: AsyncIterable<Anchor> | Iterable<Anchor>,
  after: ChainEnd | null = null,
): Promise<ChainReport> => {
  const faults: ChainFault[] = [];
  let end = after;
  let index = 0;
  for await (const anchor of anchors) {
    const wrong = evaluateAnchor(anchor);
    if (wrong === null) {
      for (const [fault, detail] of linkFaults(anchor, end)) faults.push({ index, seq: anchor.seq, fault, detail });
      end = chainEndOf(anchor);
    } else {
      faults.push({ index, seq: null, fault: 'ill_formed', detail: `not an anchor: ${wrong}` });
    }
    index += 1;
  }
  return { anchors: index, end, faults };
};
