import { createHash } from 'node:crypto';
import { type AnchorAudit, type AnchorToVerify, publicId, type StampFacts } from '@vat/domain';
import { type Anchor, decodeAnchor } from '../anchor/anchor.js';
import { type ChainEnd, verifyAnchorChain } from '../anchor/verify-anchor-chain.js';
import { type Stamped, verifyTimestamp } from '../timestamp/verify-timestamp.js';
import { BLOCK_NODES, openTreeBuilder, type TreeBlocks } from '../tree/tree-blocks.js';

/** One thing that is not as it was recorded. Ids are public ids; `detail` is a sentence for a person. */
export type AnchorDifference = { kind: string; anchor_seq?: number; check_id?: string; detail: string };

/** What a walk over all evidence found. It holds when there are no differences; `whole` is false when it was called off. */
export type AnchorsReport = {
  anchors: number;
  leaves: number;
  /** Tokens of checks. */
  stamps: number;
  /** Tokens of the development authority among all: they hold together, and prove nothing to anybody else. */
  development: number;
  differences: AnchorDifference[];
  /** Differences beyond the most that are listed. */
  leftOff: number;
  whole: boolean;
};

/** More of them tell nobody more. */
const MAX_DIFFERENCES = 200;

/** Counts and notes while the walk goes on. */
export type ReportBuilder = { report: AnchorsReport; differs: (difference: AnchorDifference) => void };

/** An empty report. */
export const openReport = (): ReportBuilder => {
  const report: AnchorsReport = {
    anchors: 0,
    leaves: 0,
    stamps: 0,
    development: 0,
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
export const evaluateToken = ({
  token: tokenBytes,
  stamped,
  facts,
  madeAt,
  trustedRoots,
}: StoredToken): string | null => {
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

type EvaluateAnchorRow = {
  row: AnchorToVerify;
  /** The anchor before it. */
  before: ChainEnd | null;
  trustedRoots: readonly string[];
  differs: ReportBuilder['differs'];
};

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

const repeats = (row: AnchorToVerify, anchor: Anchor): boolean =>
  row.seq === anchor.seq &&
  row.treeSize === anchor.tree_size &&
  row.closedAt.toISOString() === anchor.closed_at &&
  hex(row.root) === anchor.root &&
  hex(row.prevAnchorHash) === anchor.prev_anchor_hash;

/** Judges an anchor by itself and by its predecessor: form, columns, hash, chain, token. Returns the end of the chain. */
export const evaluateAnchorRow = async ({
  row,
  before,
  trustedRoots,
  differs,
}: EvaluateAnchorRow): Promise<ChainEnd | null> => {
  const told = (kind: string, detail: string) => differs({ kind, anchor_seq: row.seq, detail });
  const digest = createHash('sha256').update(row.body).digest();
  if (!digest.equals(row.hash)) told('anchor_hash', 'the hash is not that of the hashed form');

  if (row.stampDigest === null) told('anchor_stamp', 'no time-stamp was ever asked for');
  else if (!digest.equals(row.stampDigest)) told('anchor_stamp', 'the digest to be stamped is not that of the anchor');
  const fault =
    row.token &&
    evaluateToken({
      token: row.token,
      stamped: { data: row.body },
      facts: row.stamp,
      madeAt: row.closedAt,
      trustedRoots,
    });
  if (fault) told('anchor_stamp', fault);

  let anchor: Anchor;
  try {
    anchor = decodeAnchor(row.body);
  } catch (error) {
    told('anchor_form', error instanceof Error ? error.message : String(error));
    return before;
  }
  if (!repeats(row, anchor)) told('anchor_columns', 'the columns of the anchor differ from its hashed form');
  const { faults, end } = await verifyAnchorChain([anchor], before);
  for (const { detail } of faults) told('anchor_chain', detail);
  return end;
};

type EvaluateAnchorTree = {
  row: AnchorToVerify;
  audit: Pick<AnchorAudit, 'leaves' | 'readBlock'>;
  differs: ReportBuilder['differs'];
  /** Called between slices. */
  pause: () => Promise<void>;
  signal: AbortSignal | undefined;
};

const LEAVES_PER_PAGE = 2_000;
const BLOCK_BYTES = BLOCK_NODES * 32;

const evaluateNodes = async (tree: TreeBlocks, { row, audit, differs }: EvaluateAnchorTree): Promise<void> => {
  for (const [level, nodes] of tree.nodes) {
    for (let place = 0; place * BLOCK_BYTES < nodes.length; place += 1) {
      const expected = nodes.subarray(place * BLOCK_BYTES, (place + 1) * BLOCK_BYTES);
      if (Buffer.compare(expected, await audit.readBlock({ seq: row.seq, level, place })) === 0) continue;
      const detail = `block ${place} of level ${level} is not what its leaves make`;
      differs({ kind: 'anchor_nodes', anchor_seq: row.seq, detail });
    }
  }
};

/**
 * Recomputes an anchor's tree from its leaves, and compares each leaf with its check where that still exists. Returns how
 * many leaves it has; stops early, without a verdict on the root, when `signal` aborts.
 */
export const evaluateAnchorTree = async (given: EvaluateAnchorTree): Promise<number> => {
  const { row, audit, differs, pause, signal } = given;
  const tree = openTreeBuilder();
  let size = 0;
  let whole = true;
  for (;;) {
    const slice = await audit.leaves(row.seq, size, LEAVES_PER_PAGE);
    const found = slice.hashes.length / 32;
    tree.add(slice.hashes);
    whole &&= slice.whole;
    for (const { checkId, of } of slice.differing) {
      const [kind, detail] =
        of === 'time'
          ? ['check_late', 'the check was made after its anchor was closed']
          : ['check_changed', `the ${of} of the check is not what was anchored`];
      differs({ kind, anchor_seq: row.seq, check_id: publicId('check', checkId), detail });
    }
    size += found;
    await pause();
    if (signal?.aborted) return size;
    // With a gap the places no longer count the leaves, so the rest would be read twice.
    if (found < LEAVES_PER_PAGE || !whole) break;
  }
  const told = (kind: string, detail: string) => differs({ kind, anchor_seq: row.seq, detail });
  if (size !== row.treeSize || !whole)
    told('anchor_leaves', whole ? `there are ${size} leaves, not ${row.treeSize}` : 'a leaf is missing between others');
  if (size === 0 || !whole) return size;
  const blocks = tree.finish();
  if (!blocks.root.equals(row.root)) told('anchor_root', 'the leaves have another root');
  else await evaluateNodes(blocks, given);
  return size;
};
