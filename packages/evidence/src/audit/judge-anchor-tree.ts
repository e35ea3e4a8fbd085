import { type AnchorAudit, type AnchorToVerify, publicId } from '@vat/domain';
import { BLOCK_NODES } from '../tree/block-size.js';
import { openTreeBuilder, type TreeBlocks } from '../tree/open-tree-builder.js';
import type { ReportKeeper } from './anchors-report.js';

type JudgeAnchorTree = {
  row: AnchorToVerify;
  audit: Pick<AnchorAudit, 'leaves' | 'readBlock'>;
  differs: ReportKeeper['differs'];
  /** Called between slices. */
  pause: () => Promise<void>;
  signal: AbortSignal | undefined;
};

const SLICE_LEAVES = 2_000;
const BLOCK_BYTES = BLOCK_NODES * 32;

const judgeNodes = async (tree: TreeBlocks, { row, audit, differs }: JudgeAnchorTree): Promise<void> => {
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
export const judgeAnchorTree = async (given: JudgeAnchorTree): Promise<number> => {
  const { row, audit, differs, pause, signal } = given;
  const tree = openTreeBuilder();
  let size = 0;
  let whole = true;
  for (;;) {
    const slice = await audit.leaves(row.seq, size, SLICE_LEAVES);
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
    if (found < SLICE_LEAVES || !whole) break;
  }
  const told = (kind: string, detail: string) => differs({ kind, anchor_seq: row.seq, detail });
  if (size !== row.treeSize || !whole)
    told('anchor_leaves', whole ? `there are ${size} leaves, not ${row.treeSize}` : 'a leaf is missing between others');
  if (size === 0 || !whole) return size;
  const blocks = tree.finish();
  if (!blocks.root.equals(row.root)) told('anchor_root', 'the leaves have another root');
  else await judgeNodes(blocks, given);
  return size;
};
