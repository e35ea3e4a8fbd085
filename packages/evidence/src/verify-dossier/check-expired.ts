import { type ChainedStamp, evaluateStamps, type StampStanding } from '../anchor/evaluate-stamps.js';
import type { FoundLinks } from './check-anchors.js';
import type { FoundStamps } from './check-stamps.js';
import type { Timed } from './check-times.js';
import type { ReportBuilder } from './dossier-report.js';
import { utc } from './read-content.js';
import { SUMS } from './read-dossier-zip.js';

const MAX_NAMED = 3;

/** `now`: milliseconds since 1970. */
type Given = Pick<Timed, 'stamps' | 'proved'> & { links: FoundLinks; now: number };

type Expired = { stamped: string; standing: Exclude<StampStanding, { kind: 'current' }> };

const stampOf = (stamped: string): string => stamped.replace(/^checks\//, 'timestamps/').replace(/\.json$/, '.tsr');
const time = (at: number): string => utc(Math.floor(at / 1_000));

/** Time-stamps whose certificate expired before `at`, anchors first, in their order. */
const expiredBefore = (at: number, { stamps, links, proved }: Given): Expired[] => {
  const chain = [...links].map(([seq, linked]): ChainedStamp => {
    return { seq, linked, stamp: stamps.get(`anchors/${seq}.json`) ?? null };
  });
  const standings = evaluateStamps(chain, at);
  const found: Expired[] = [];
  const add = (stamped: string, standing: StampStanding): void => {
    if (standing.kind !== 'current') found.push({ stamped, standing });
  };
  for (const { seq, stamp } of chain) {
    const standing = standings.anchors.get(seq);
    if (stamp && standing) add(`anchors/${seq}.json`, standing);
  }
  for (const [stamped, stamp] of stamps) {
    const id = stamped.match(/^checks\/([^/]+)\.json$/)?.[1];
    if (id !== undefined) add(stamped, standings.ofCheck(stamp, proved.get(id) ?? null));
  }
  return found;
};

/** Names the anchors that renew expired time-stamps, once for each expiry. */
const reportRenewed = (expired: readonly Expired[], report: ReportBuilder): void => {
  const renewed = new Map<string, string[]>();
  for (const { stamped, standing } of expired) {
    if (standing.kind !== 'renewed') continue;
    const { expiredAt, by } = standing;
    const why = `hold: anchor ${by.seq}, which contains their hashes, was stamped before that, on ${time(by.genTime)}.`;
    const key = JSON.stringify([`with a certificate that expired on ${time(expiredAt)}`, why]);
    renewed.set(key, [...(renewed.get(key) ?? []), stampOf(stamped)]);
  }
  for (const [key, files] of renewed) {
    const [expiry, why] = JSON.parse(key) as [string, string];
    report.passed(`${files.length} time-stamp(s) ${expiry} (${files.slice(0, MAX_NAMED).join(', ')}) ${why}`);
  }
};

/**
 * Reports the time-stamps that had expired when the dossier was made, unless a later anchor renews them. The time-stamp of the
 * whole dossier covers all others, so they are looked at as of its time, unless it is of the development authority, which shows
 * no time. Returns those that hold.
 */
export const checkExpired = (given: Given, report: ReportBuilder): FoundStamps => {
  const { stamps, now } = given;
  const seal = stamps.get(SUMS);
  if (seal && seal.validUntil < now)
    report.note(
      `The certificate of SHA256SUMS.tsr expired on ${time(seal.validUntil)}. If you received this dossier before that day, it is as good as then. Otherwise export it again: a new dossier has a new time-stamp, and the later anchors that renew the earlier ones.`,
    );
  const expired = expiredBefore(seal && !seal.development ? seal.genTime : now, given);
  reportRenewed(expired, report);
  const holding: FoundStamps = new Map(stamps);
  for (const { stamped, standing } of expired) {
    if (standing.kind !== 'outlived') continue;
    const { expiredAt, next } = standing;
    report.problem('stamp_expired', {
      file: stampOf(stamped),
      expired: time(expiredAt),
      reason: next
        ? `and anchor ${next.seq}, the first later one that holds, was stamped only on ${time(next.genTime)}`
        : 'and no later anchor that contains its hash holds',
    });
    holding.delete(stamped);
  }
  return holding;
};
