import {
  type ChainedStamp,
  type ChainStandings,
  describeStanding,
  evaluateStamps,
  type StampStanding,
} from '../anchor/evaluate-stamps.js';
import type { RenewedAnchors, ReportBuilder } from './evaluate-anchor.js';

type Expired = Exclude<StampStanding, { kind: 'current' }>;
type Group = { first: number; last: number; anchors: number; standing: Expired };

/** What anchors have in common that are reported together. */
const groupOf = (standing: Expired): string => {
  const other = standing.kind === 'renewed' ? standing.by.seq : standing.next?.seq;
  return `${standing.kind} ${standing.expiredAt} ${other}`;
};

const groupsOf = (standings: ReadonlyMap<number, StampStanding>): Group[] => {
  const groups = new Map<string, Group>();
  for (const [seq, standing] of standings) {
    if (standing.kind === 'current') continue;
    const found = groups.get(groupOf(standing)) ?? { first: seq, last: seq, anchors: 0, standing };
    const { first, last, anchors } = found;
    groups.set(groupOf(standing), {
      ...{ first: Math.min(first, seq), last: Math.max(last, seq), anchors: anchors + 1, standing },
    });
  }
  return [...groups.values()].sort((one, other) => one.first - other.first);
};

const time = (at: number): string => new Date(at).toISOString();

/**
 * Adds to the report which anchors hold at the time `at` only because of a later one, and a difference for those that do not
 * hold any more. Anchors with the same reason are one entry. Returns the standings.
 */
export const reportStandings = (
  chain: readonly ChainedStamp[],
  at: Date,
  { report, differs }: ReportBuilder,
): ChainStandings => {
  const standings = evaluateStamps(chain, at.getTime());
  for (const { first, last, anchors, standing } of groupsOf(standings.anchors)) {
    if (standing.kind === 'renewed') {
      const { expiredAt, by } = standing;
      const entry: RenewedAnchors = {
        ...{ first_seq: first, last_seq: last, anchors, expired_at: time(expiredAt) },
        ...{ by_seq: by.seq, stamped_at: time(by.genTime) },
      };
      report.renewed.push(entry);
    } else {
      const whose = anchors === 1 ? '' : `${anchors} anchors between ${first} and ${last}, each: `;
      differs({ kind: 'anchor_expired', anchor_seq: first, detail: `${whose}${describeStanding(standing)}` });
    }
  }
  // Those of the development authority are valid for decades, but they renew no other authority's.
  const valid = chain.flatMap(({ seq, stamp }) =>
    stamp && !stamp.development && standings.anchors.get(seq)?.kind === 'current' ? stamp.validUntil : [],
  );
  report.validUntil = valid.length === 0 ? null : new Date(valid.reduce((one, other) => Math.max(one, other)));
  return standings;
};

/** How long before the newest time-stamp expires the operator is warned. */
const WARN_BEFORE_MS = 60 * 86_400_000;

/**
 * Whether the time-stamps of all anchors expire within 60 days. After that nothing can renew them: an anchor with a
 * certificate that is valid longer must be stamped before.
 */
export const expiresSoon = (validUntil: Date | null, now: Date): boolean =>
  validUntil !== null && validUntil.getTime() - now.getTime() < WARN_BEFORE_MS;
