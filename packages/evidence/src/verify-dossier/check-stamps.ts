import type { FoundAnchors } from './check-anchors.js';
import type { FoundChecks } from './check-records.js';
import { NotChecked, type ReportBuilder } from './dossier-report.js';
import { bytesOf, readText, utc } from './read-content.js';
import type { DossierFiles } from './read-dossier-zip.js';
import { openTokenVerifier, TokenRefused, type VerifiedStamp } from './verify-token.js';

const SUMS = 'SHA256SUMS';
const SEAL = 'SHA256SUMS.tsr';
const ROOTS = 'certs/tsa-roots.pem';
const INTERMEDIATES = 'certs/tsa-intermediates.pem';

/** The verified time-stamps by the path of the stamped file. */
export type FoundStamps = Map<string, VerifiedStamp>;

/** The certificates in PEM, in DER. */
const certificatesIn = (pem: string): Uint8Array[] =>
  [...pem.matchAll(/-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]*?)-----END CERTIFICATE-----/g)].map(([, body = '']) =>
    Uint8Array.from(atob(body.replace(/\s/g, '')), (letter) => letter.charCodeAt(0)),
  );

/** Pairs of a time-stamp and the file that it stamps; that of the whole dossier is first. */
const listStamps = (files: DossierFiles, report: ReportBuilder): [file: string, stamped: string][] => {
  const pairs: [string, string][] = [];
  if (files.has(SEAL)) pairs.push([SEAL, SUMS]);
  else report.problem('seal_missing', { file: SEAL });
  for (const file of files.keys()) {
    if (!file.endsWith('.tsr') || file === SEAL) continue;
    const [, folder, name] = file.match(/^(anchors|timestamps)\/([^/]+)\.tsr$/) ?? [];
    const stamped = folder === 'anchors' ? `anchors/${name}.json` : `checks/${name}.json`;
    if (folder !== undefined && files.has(stamped)) pairs.push([file, stamped]);
    else report.problem('stamp_of_nothing', { file });
  }
  return pairs;
};

/** Verifies every time-stamp. Throws {@link NotChecked} for one that browsers cannot verify. */
export const checkStamps = async (
  files: DossierFiles,
  report: ReportBuilder,
  onProgress: (done: number, total: number) => void,
): Promise<FoundStamps> => {
  const found: FoundStamps = new Map();
  const trusted = certificatesIn(readText(files, ROOTS));
  if (trusted.length === 0) {
    report.problem('roots_missing', { file: ROOTS });
    return found;
  }
  const intermediates = files.has(INTERMEDIATES) ? certificatesIn(readText(files, INTERMEDIATES)) : [];
  const verify = openTokenVerifier({ trusted, intermediates });
  const pairs = listStamps(files, report);
  let unsupported: NotChecked | null = null;
  for (const [index, [file, stamped]] of pairs.entries()) {
    onProgress(index, pairs.length);
    try {
      const parts = { token: bytesOf(files, file), stamped: bytesOf(files, stamped), isSeal: file === SEAL };
      found.set(stamped, await verify(parts));
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error;
      if (error.refusal !== 'unsupported') report.problem(error.refusal, { file, stamped, reason: error.message });
      else
        unsupported ??= new NotChecked(
          'unsupported_stamp',
          `The time-stamp ${file} cannot be verified in a browser: ${error.message}. Verify the dossier with verify.py.`,
        );
    }
  }
  if (unsupported) throw unsupported;
  const seal = found.get(SUMS);
  if (seal)
    report.passed(`The whole dossier is unchanged since ${utc(seal.genTime / 1_000)}, according to its time-stamp.`);
  const authorities = [...new Set([...found.values()].map(({ authority }) => authority))].sort();
  report.passed(`${found.size} time-stamps verify. They were issued by: ${authorities.join(', ')}.`);
  report.note(
    'The root certificates of the time-stamps came with the dossier: compare them with those that the authority publishes.',
  );
  return found;
};

/** A time-stamp may be this many seconds too early: five minutes of clock difference and one minute of accuracy. */
const TOLERANCE = 360;

type Timed = {
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
      `${unstamped} checks are covered only by the time-stamp of the whole dossier, so nothing shows that they are older than the dossier.`,
    );
};
