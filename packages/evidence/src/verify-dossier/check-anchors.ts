import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { evaluateAnchor, NO_ANCHOR_HASH } from '../anchor/anchor.js';
import { canonicalText } from '../canonical-form.js';
import { verifyInclusion } from '../tree/inclusion.js';
import type { CheckRows, FoundChecks } from './check-records.js';
import { counted, type ReportBuilder } from './dossier-report.js';
import { parseObject, readText, secondsOf } from './read-content.js';
import type { DossierFiles } from './read-dossier-zip.js';

/** `closedAt`: seconds since 1970. */
type FoundAnchor = { size: number; root: string; closedAt: number };
export type FoundAnchors = Map<number, FoundAnchor>;
/** Whether each anchor contains the hash of the one before it, by `seq`; also anchors that only connect others. */
export type FoundLinks = Map<number, boolean>;

type Previous = { seq: number; hash: string; closedAt: string };

type Record = { file: string; text: string; hash: string; connects: boolean };

/** Anchors with a file of their own, and those that connect them, one per line, by `seq`. */
const readRecords = (files: DossierFiles, report: ReportBuilder): Map<number, Record> => {
  const records = new Map<number, Record>();
  for (const file of files.keys()) {
    if (!/^anchors\/links-\d+\.jsonl$/.test(file)) continue;
    for (const text of readText(files, file).split('\n')) {
      if (text === '') continue;
      const hash = bytesToHex(sha256(utf8ToBytes(text)));
      records.set(Number(parseObject(text).seq), { file, text, hash, connects: true });
    }
  }
  for (const [file, { sha256: hash }] of files) {
    const digits = file.match(/^anchors\/(\d+)\.json$/)?.[1];
    if (digits === undefined) continue;
    const number = BigInt(digits);
    // Another spelling of the number, such as 07, would be a second file for the same anchor, and only one is compared.
    if (digits !== String(number)) report.problem('anchor_renamed', { file, seq: number });
    records.set(Number(number), { file, text: readText(files, file), hash, connects: false });
  }
  return records;
};

/** Compares every anchor with its form, its name and the one before it. Returns them in the order of the chain. */
export const checkAnchors = (
  files: DossierFiles,
  report: ReportBuilder,
): { anchors: FoundAnchors; links: FoundLinks } => {
  const anchors: FoundAnchors = new Map();
  const links: FoundLinks = new Map();
  let previous: Previous | null = null;
  let gaps = 0;
  const records = [...readRecords(files, report)].sort(([one], [other]) => one - other);
  for (const [number, { file, text, hash, connects }] of records) {
    files.lastRead = file;
    const anchor = parseObject(text);
    const { seq, tree_size: size, root, prev_anchor_hash: before, closed_at: closed } = anchor;
    if (canonicalText(anchor) !== text || evaluateAnchor(anchor) !== null) report.problem('anchor_form', { file });
    if (seq !== number) report.problem('anchor_renamed', { file, seq });
    const closedAt = secondsOf(closed);
    if (seq === 1 && before !== NO_ANCHOR_HASH) report.problem('anchor_first', { file });
    const follows: boolean = previous !== null && number === previous.seq + 1;
    const linked: boolean = previous !== null && follows && before === previous.hash;
    if (previous && follows) {
      if (!linked) report.problem('chain_broken', { file, before: previous.seq });
      if (String(closed) < previous.closedAt) report.problem('anchor_early', { file });
    } else if (previous) gaps += 1;
    previous = { seq: number, hash, closedAt: String(closed) };
    links.set(number, linked);
    if (!connects) anchors.set(number, { size: Number(size), root: String(root), closedAt });
  }
  report.passed(counted(anchors.size, 'anchor is a chain.', 'anchors are one chain.'));
  if (gaps > 0)
    report.note(
      `The chain has ${counted(gaps, 'gap', 'gaps')}: anchors that contain no check of this dossier are left out.`,
    );
  return { anchors, links };
};

const isHash = (value: unknown): value is string => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);

type Proof = { id: string; anchor_seq: number; leaf_index: number; tree_size: number; path: string[] };

const parseProof = (line: string): Proof => {
  const { id, anchor_seq, leaf_index, tree_size, path } = parseObject(line);
  const numbers = [anchor_seq, leaf_index, tree_size];
  if (typeof id !== 'string' || !numbers.every(Number.isSafeInteger) || !Array.isArray(path) || !path.every(isHash))
    throw new Error('not a proof');
  return { id, anchor_seq, leaf_index, tree_size, path } as Proof;
};

/** Verifies the inclusion proof of every anchored check. Returns the `seq` of its anchor by the id of the check. */
export const checkProofs = (
  files: DossierFiles,
  { checks, anchors, rows }: { checks: FoundChecks; anchors: FoundAnchors; rows: CheckRows },
  report: ReportBuilder,
): Map<string, number> => {
  const proved = new Map<string, number>();
  const positions = new Set<string>();
  for (const line of readText(files, 'proofs.jsonl').split('\n')) {
    if (line === '') continue;
    const { id: check_id, anchor_seq: seq, leaf_index, tree_size, path } = parseProof(line);
    const position = `${seq} ${leaf_index}`;
    if (proved.has(check_id) || positions.has(position)) report.problem('proof_repeated', { check_id, seq });
    proved.set(check_id, seq);
    positions.add(position);
    const check = checks.get(check_id);
    const anchor = anchors.get(seq);
    if (!check || !anchor) {
      report.problem('proof_unclaimed', { check_id, seq });
      continue;
    }
    const holds =
      tree_size === anchor.size &&
      isHash(anchor.root) &&
      verifyInclusion({
        leaf: hexToBytes(check.hash),
        index: leaf_index,
        size: anchor.size,
        path: path.map(hexToBytes),
        root: hexToBytes(anchor.root),
      });
    if (!holds) report.problem('proof_wrong', { check_id, seq });
    if (rows.get(check_id)?.anchor_seq !== String(seq)) report.problem('proof_anchor', { check_id });
  }
  for (const check_id of checks.keys())
    if (!proved.has(check_id) && rows.get(check_id)?.anchor_seq) report.problem('proof_missing', { check_id });
  report.passed(
    counted(proved.size, 'proof leads to the root of its anchor.', 'proofs lead to the root of their anchor.'),
  );
  if (checks.size > proved.size)
    report.note(
      `${counted(checks.size - proved.size, 'check was', 'checks were')} not in an anchor yet when the dossier was made.`,
    );
  return proved;
};
