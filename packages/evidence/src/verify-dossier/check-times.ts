import type { FoundAnchors } from './check-anchors.js';
import type { FoundChecks } from './check-records.js';
import type { FoundStamps } from './check-stamps.js';
import { counted, type ReportBuilder } from './dossier-report.js';
import { utc } from './read-content.js';
import { SUMS } from './read-dossier-zip.js';

/** A time-stamp may be this many seconds too early: five minutes of clock difference and one minute of accuracy. */
const TOLERANCE = 360;

/** What a dossier contains that has a time. */
export type Timed = {
  checks: FoundChecks;
  anchors: FoundAnchors;
  /** The anchor of each anchored check. */
  proved: ReadonlyMap<string, number>;
  /** Of the dossier, in seconds. */
  createdAt: number;
  stamps: FoundStamps;
};

const maxOf = (values: Iterable<number>): number => {
  let largest = Number.NEGATIVE_INFINITY;
  for (const value of values) largest = Math.max(largest, value);
  return largest;
};

/** Reports what was stamped or anchored before it was made. */
export const checkTimes = ({ checks, anchors, proved, createdAt, stamps }: Timed, report: ReportBuilder): void => {
  const made = new Map<string, number>();
  for (const [seq, { closedAt }] of anchors) made.set(`anchors/${seq}.json`, closedAt);
  for (const [id, { checkedAt }] of checks) made.set(`checks/${id}.json`, checkedAt);
  const stampedAt = [...stamps.values()].map(({ genTime }) => Math.floor(genTime / 1_000));
  made.set(SUMS, Math.max(createdAt, maxOf(made.values()), maxOf(stampedAt)));
  for (const [file, { genTime }] of stamps) {
    const [at, madeAt] = [Math.floor(genTime / 1_000), made.get(file) ?? 0];
    if (at + TOLERANCE < madeAt) report.problem('stamped_early', { file, stamped: utc(at), made: utc(madeAt) });
  }
  for (const [check_id, seq] of proved) {
    const [check, anchor] = [checks.get(check_id), anchors.get(seq)];
    if (check && anchor && anchor.closedAt + TOLERANCE < check.checkedAt)
      report.problem('anchored_early', { check_id, checked: utc(check.checkedAt), seq });
  }
};

const gapText = (seconds: number): string => {
  const minutes = Math.ceil(seconds / 60);
  return `${Math.floor(minutes / 1440)} d ${Math.floor(minutes / 60) % 24} h ${minutes % 60} min`;
};

/** Notes since when the checks are proved to have existed. */
export const noteProvedTimes = ({ checks, anchors, proved, stamps }: Timed, report: ReportBuilder): void => {
  // The time of a development authority comes from the service itself and proves nothing.
  const independent = (file: string): number => {
    const stamp = stamps.get(file);
    return stamp && !stamp.development ? Math.floor(stamp.genTime / 1_000) : Number.POSITIVE_INFINITY;
  };
  const since = new Map<number, number>();
  // The next anchor contains the hash of this one, so its time-stamp covers this one too.
  for (const seq of [...anchors.keys()].reverse())
    since.set(seq, Math.min(independent(`anchors/${seq}.json`), since.get(seq + 1) ?? Number.POSITIVE_INFINITY));
  let longest: { id: string; gap: number } | null = null;
  let unstamped = 0;
  for (const [id, { checkedAt }] of checks) {
    const own = Math.min(independent(`checks/${id}.json`), since.get(proved.get(id) ?? 0) ?? Number.POSITIVE_INFINITY);
    if (own === Number.POSITIVE_INFINITY) unstamped += 1;
    const gap = Math.max(0, Math.min(own, independent(SUMS)) - checkedAt);
    if (gap !== Number.POSITIVE_INFINITY && (longest === null || gap > longest.gap)) longest = { id, gap };
  }
  if (longest === null) return;
  report.note(
    `A check is proved to have existed when it was first stamped, not at its checked_at. The longest time between the two is ${gapText(longest.gap)} (${longest.id}).`,
  );
  if (unstamped > 0)
    report.note(
      counted(
        unstamped,
        'check is covered only by the time-stamp of the whole dossier, so nothing shows that it is older than the dossier.',
        'checks are covered only by the time-stamp of the whole dossier, so nothing shows that they are older than the dossier.',
      ),
    );
};
