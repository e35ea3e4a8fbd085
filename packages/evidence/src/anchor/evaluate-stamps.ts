/** A verified time-stamp. Times are in milliseconds since 1970. */
export type StampPeriod = {
  genTime: number;
  /** When the first certificate between its signer and the root expires. */
  validUntil: number;
  /** Whether the development authority made it. */
  development: boolean;
};

/** An anchor with its time-stamp, in the order of the chain. */
export type ChainedStamp = {
  seq: number;
  /** Null if there is no time-stamp, or if it does not verify. */
  stamp: StampPeriod | null;
  /** Whether the anchor contains the hash of the one before it in the list. */
  linked: boolean;
};

/** A time-stamp of another anchor that is named as a reason. */
type NamedStamp = { seq: number; genTime: number };

/**
 * Whether a time-stamp still proves its time. `current`: its certificates are valid. `renewed`: they have expired, and the
 * later anchor `by`, which holds, was stamped before that. `outlived`: they have expired, and there is no such anchor; `next`
 * is the later anchor that holds and was stamped first, if there is any.
 */
export type StampStanding =
  | { kind: 'current' }
  | { kind: 'renewed'; expiredAt: number; by: NamedStamp }
  | { kind: 'outlived'; expiredAt: number; next: NamedStamp | null };

type Holding = { seq: number } & StampPeriod;

/** Whether every anchor that `other` renews is also renewed by `one`, for at least as long. */
const replaces = (one: Holding, other: Holding): boolean =>
  one.genTime <= other.genTime && one.validUntil >= other.validUntil && (!one.development || other.development);

const named = ({ seq, genTime }: Holding): NamedStamp => ({ seq, genTime });

/**
 * The standing of a time-stamp, given the later anchors that hold. The one that renews it longest is named. The development
 * authority never renews another one, because the operator of the service has its key.
 */
const standingOf = (stamp: StampPeriod, at: number, later: readonly Holding[]): StampStanding => {
  const { validUntil: expiredAt, development } = stamp;
  if (expiredAt >= at) return { kind: 'current' };
  const others = later.filter((one) => development || !one.development);
  const [by] = others.filter(({ genTime }) => genTime <= expiredAt).sort((a, b) => b.validUntil - a.validUntil);
  if (by) return { kind: 'renewed', expiredAt, by: named(by) };
  const [next] = others.sort((a, b) => a.genTime - b.genTime);
  return { kind: 'outlived', expiredAt, next: next ? named(next) : null };
};

/** The standings in a part of the chain at one time. */
export type ChainStandings = {
  /** By the `seq` of each anchor with a time-stamp. */
  anchors: ReadonlyMap<number, StampStanding>;
  /**
   * The standing of a time-stamp of one check, which the anchor `anchorSeq` contains (null: none). When it has expired, that
   * anchor or a later one renews it, as it would renew the time-stamp of an anchor before it.
   */
  ofCheck: (stamp: StampPeriod, anchorSeq: number | null) => StampStanding;
};

/**
 * The standings at the time `at` of the time-stamps in a part of the chain (oldest first). A later anchor contains the hash
 * of every earlier one that it is linked to. So if it was stamped while the certificates of an earlier time-stamp were valid,
 * the earlier anchor existed before anyone could misuse an expired key. A later anchor counts only if it holds itself.
 */
export const evaluateStamps = (chain: readonly ChainedStamp[], at: number): ChainStandings => {
  const anchors = new Map<number, StampStanding>();
  /** The anchors that hold, from each one on. The same array serves many anchors. */
  const holdingFrom = new Map<number, readonly Holding[]>();
  // Without those that another one replaces: about one for each certificate.
  let holding: readonly Holding[] = [];
  for (const { seq, stamp, linked } of chain.toReversed()) {
    if (stamp !== null) {
      const standing = standingOf(stamp, at, holding);
      anchors.set(seq, standing);
      const added: Holding = { seq, ...stamp };
      if (standing.kind !== 'outlived' && !holding.some((one) => replaces(one, added)))
        holding = [...holding.filter((one) => !replaces(added, one)), added];
    }
    holdingFrom.set(seq, holding);
    if (!linked) holding = [];
  }
  return {
    anchors,
    ofCheck: (stamp, anchorSeq) => standingOf(stamp, at, anchorSeq === null ? [] : (holdingFrom.get(anchorSeq) ?? [])),
  };
};

const day = (at: number): string => `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** The sentence about an expired time-stamp of an anchor: which later anchor renews it, or why none does. */
export const describeStanding = (standing: Exclude<StampStanding, { kind: 'current' }>): string => {
  const expired = `the certificate of its time-stamp expired on ${day(standing.expiredAt)}`;
  if (standing.kind === 'renewed')
    return `${expired}; anchor ${standing.by.seq}, which contains its hash, was stamped before that, on ${day(standing.by.genTime)}`;
  return standing.next === null
    ? `${expired}, and no later anchor that contains its hash holds`
    : `${expired}; of the later anchors that contain its hash and hold, anchor ${standing.next.seq} was stamped first, on ${day(standing.next.genTime)}, which is too late`;
};
