import { createHash } from 'node:crypto';
import { type AnchorAudit, type AnchorToVerify, MAX_BEHIND_MS, publicId, type StampFacts } from '@vat/domain';
import { type Anchor, decodeAnchor } from '../anchor/anchor.js';
import type { ChainedStamp, StampPeriod } from '../anchor/evaluate-stamps.js';
import { type ChainEnd, verifyAnchorChain } from '../anchor/verify-anchor-chain.js';
import { type Stamped, verifyTimestamp } from '../timestamp/verify-timestamp.js';
import { BLOCK_NODES, openTreeBuilder, type TreeBlocks } from '../tree/tree-blocks.js';

/** One difference between the recorded evidence and the recomputed one. Ids are public ids; `detail` is one sentence. */
type AnchorDifference = { kind: string; anchor_seq?: number; check_id?: string; detail: string };

/** Anchors between two `seq` whose time-stamps expired at the same time, and the later anchor that renews them. */
export type RenewedAnchors = {
  first_seq: number;
  last_seq: number;
  anchors: number;
  expired_at: string;
  by_seq: number;
  stamped_at: string;
};

/** The result of verifying all evidence, which is valid without differences. `whole` is false if the run was aborted. */
export type AnchorsReport = {
  anchors: number;
  leaves: number;
  /** Tokens of checks. */
  stamps: number;
  /** How many of all tokens come from the development authority. They are consistent but prove nothing to others. */
  development: number;
  /** Anchors whose time-stamp has expired and that hold because of a later anchor. */
  renewed: RenewedAnchors[];
  /**
   * When the newest valid time-stamp of an anchor expires, without those of the development authority; null if there is none.
   * Later ones must be made before that.
   */
  validUntil: Date | null;
  differences: AnchorDifference[];
  /** Differences beyond the maximum that is listed. */
  leftOff: number;
  whole: boolean;
};

const MAX_DIFFERENCES = 200;

/** A report that is being filled; `differs` adds one difference. */
export type ReportBuilder = { report: AnchorsReport; differs: (difference: AnchorDifference) => void };

export const openReport = (): ReportBuilder => {
  const report: AnchorsReport = {
    anchors: 0,
    leaves: 0,
    stamps: 0,
    development: 0,
    renewed: [],
    validUntil: null,
    differences: [],
    leftOff: 0,
    whole: true,
  };
  return {
    report,
    differs: (difference) => {
      if (report.differences.length < MAX_DIFFERENCES) report.differences.push(difference);
      else report.leftOff += 1;
    },
  };
};

type StoredToken = {
  token: Uint8Array;
  /** What the token must be a time-stamp of. */
  stamped: Stamped;
  facts: StampFacts | null;
  /** The time at which the stamped record was made; null if that is no longer known. */
  madeAt: Date | null;
  /** PEM. A token of the development authority is verified with its own root, which it contains. */
  trustedRoots: readonly string[];
};

/**
 * The fault of a stored token, or its period if it has none. A token is faulty if it does not verify, differs from the facts
 * that were recorded of it, or is older than what it stamps.
 */
export const evaluateToken = ({
  token: tokenBytes,
  stamped,
  facts,
  madeAt,
  trustedRoots,
}: StoredToken): { fault: string } | { fault: null; period: StampPeriod } => {
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
    if (!agrees) return { fault: 'the recorded facts of the token differ from its content' };
    const { genTime, validUntil, development } = token;
    if (madeAt !== null && genTime.getTime() + MAX_BEHIND_MS < madeAt.getTime())
      return {
        fault: `the token is of ${genTime.toISOString()}, before what it stamps was made (${madeAt.toISOString()})`,
      };
    return {
      fault: null,
      period: { genTime: genTime.getTime(), validUntil: validUntil.getTime(), development },
    };
  } catch (error) {
    return { fault: `the token does not verify: ${error instanceof Error ? error.message : String(error)}` };
  }
};

type EvaluateAnchorRow = {
  row: AnchorToVerify;
  /** The end of the chain at the previous anchor. */
  before: ChainEnd | null;
  trustedRoots: readonly string[];
  differs: ReportBuilder['differs'];
};

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

const matchesColumns = (row: AnchorToVerify, anchor: Anchor): boolean =>
  row.seq === anchor.seq &&
  row.treeSize === anchor.tree_size &&
  row.closedAt.toISOString() === anchor.closed_at &&
  hex(row.root) === anchor.root &&
  hex(row.prevAnchorHash) === anchor.prev_anchor_hash;

/**
 * Verifies an anchor and its link to the predecessor: form, columns, hash, chain, token. Returns the end of the chain, and the
 * anchor with its time-stamp.
 */
export const evaluateAnchorRow = async ({
  row,
  before,
  trustedRoots,
  differs,
}: EvaluateAnchorRow): Promise<{ end: ChainEnd | null; chained: ChainedStamp }> => {
  const add = (kind: string, detail: string) => differs({ kind, anchor_seq: row.seq, detail });
  const digest = createHash('sha256').update(row.body).digest();
  if (!digest.equals(row.hash)) add('anchor_hash', 'the hash is not that of the hashed form');

  if (row.stampDigest === null) add('anchor_stamp', 'no time-stamp was ever requested');
  else if (!digest.equals(row.stampDigest)) add('anchor_stamp', 'the digest to be stamped is not that of the anchor');
  const token =
    row.token &&
    evaluateToken({
      token: row.token,
      stamped: { data: row.body },
      facts: row.stamp,
      madeAt: row.closedAt,
      trustedRoots,
    });
  if (token?.fault) add('anchor_stamp', token.fault);
  const stamp = token?.fault === null ? token.period : null;

  let anchor: Anchor;
  try {
    anchor = decodeAnchor(row.body);
  } catch (error) {
    add('anchor_form', error instanceof Error ? error.message : String(error));
    return { end: before, chained: { seq: row.seq, stamp: null, linked: false } };
  }
  if (!matchesColumns(row, anchor)) add('anchor_columns', 'the columns of the anchor differ from its hashed form');
  const { faults, end } = await verifyAnchorChain([anchor], before);
  for (const { detail } of faults) add('anchor_chain', detail);
  const linked = !faults.some(({ fault }) => fault === 'wrong_prev_anchor_hash');
  return { end, chained: { seq: row.seq, stamp, linked } };
};

type EvaluateAnchorTree = {
  row: AnchorToVerify;
  audit: Pick<AnchorAudit, 'leaves' | 'readBlock'>;
  differs: ReportBuilder['differs'];
  /** Called between pages. */
  pause: () => Promise<void>;
  signal: AbortSignal | undefined;
};

const LEAVES_PER_PAGE = 2_000;
const BLOCK_BYTES = BLOCK_NODES * 32;

const evaluateNodes = async (tree: TreeBlocks, { row, audit, differs }: EvaluateAnchorTree): Promise<void> => {
  for (const [level, nodes] of tree.nodes) {
    for (let index = 0; index * BLOCK_BYTES < nodes.length; index += 1) {
      const expected = nodes.subarray(index * BLOCK_BYTES, (index + 1) * BLOCK_BYTES);
      if (Buffer.compare(expected, await audit.readBlock({ seq: row.seq, level, index })) === 0) continue;
      const detail = `block ${index} of level ${level} differs from the one computed from its leaves`;
      differs({ kind: 'anchor_nodes', anchor_seq: row.seq, detail });
    }
  }
};

/**
 * Recomputes an anchor's tree from its leaves, and compares each leaf with its check if that still exists. Returns the number
 * of leaves. Stops early, without comparing the root, when `signal` aborts.
 */
export const evaluateAnchorTree = async (given: EvaluateAnchorTree): Promise<number> => {
  const { row, audit, differs, pause, signal } = given;
  const tree = openTreeBuilder();
  let size = 0;
  let [whole, ranged] = [true, true];
  for (;;) {
    const page = await audit.leaves(row.seq, size, LEAVES_PER_PAGE);
    const found = page.hashes.length / 32;
    tree.add(page.hashes);
    whole &&= page.whole;
    ranged &&= page.ranged;
    for (const { checkId, of } of page.differing) {
      const [kind, detail] =
        of === 'time'
          ? ['check_late', 'the check was made after its anchor was closed']
          : ['check_changed', `the ${of} of the check is not what was anchored`];
      differs({ kind, anchor_seq: row.seq, check_id: publicId('check', checkId), detail });
    }
    size += found;
    await pause();
    if (signal?.aborted) return size;
    // After a gap the index is no longer the number of leaves read, so the remaining leaves would be read twice.
    if (found < LEAVES_PER_PAGE || !whole) break;
  }
  const add = (kind: string, detail: string) => differs({ kind, anchor_seq: row.seq, detail });
  if (size !== row.treeSize || !whole)
    add(
      'anchor_leaves',
      whole
        ? `there are ${size} leaves, not ${row.treeSize}`
        : 'a leaf is missing between others, or two are in one place',
    );
  else if (!ranged)
    add('anchor_columns', 'a leaf is outside the range of checks in which proofs search, first_leaf to last_leaf');
  if (size === 0 || !whole) return size;
  const blocks = tree.finish();
  if (!blocks.root.equals(row.root)) add('anchor_root', 'the leaves have another root');
  else await evaluateNodes(blocks, given);
  return size;
};
