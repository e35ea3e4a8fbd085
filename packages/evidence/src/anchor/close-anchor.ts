import { type CloseAlone, newUuidAt, type StoredAnchor } from '@vat/domain';
import { openTreeBuilder } from '../tree/tree-blocks.js';
import { ANCHOR_ALGORITHM, type Anchor, decodeAnchor, encodeAnchor, hashAnchor, NO_ANCHOR_HASH } from './anchor.js';

type CloseAnchor = {
  /** The newest anchor, or null when there is none yet. */
  previous: Anchor | null;
  /** Number of leaves of the tree of the checks to anchor. */
  size: number;
  root: Uint8Array;
  closedAt: Date;
};

/**
 * Makes the anchor that follows `previous`. Its `closed_at` is never earlier than that of its predecessor, even if the
 * clock was set back. Throws if the tree is empty.
 */
export const closeAnchor = ({ previous, size, root, closedAt }: CloseAnchor): Anchor => {
  if (size < 1) throw new Error('an anchor needs at least one check');
  const time = closedAt.toISOString();
  return {
    v: 1,
    seq: (previous?.seq ?? 0) + 1,
    alg: ANCHOR_ALGORITHM,
    closed_at: previous && previous.closed_at > time ? previous.closed_at : time,
    tree_size: size,
    root: Buffer.from(root).toString('hex'),
    prev_anchor_hash: previous ? hashAnchor(previous) : NO_ANCHOR_HASH,
  };
};

type CloseNextAnchorDeps = {
  closeAlone: CloseAlone;
  now: () => Date;
  /** Leaves that are read, indexed and hashed at once. */
  pageLeaves?: number;
  /** Maximum number of leaves of one anchor, which limits its transaction. The remaining ones follow in the next anchor. */
  maxLeaves?: number;
};

/**
 * `closed`, `nothing` (no check is waiting), or `busy` (another process is closing an anchor). `more`: the anchor has the
 * maximum size, so checks may be left for the next one.
 */
export type Closing =
  | { kind: 'closed'; anchor: Omit<StoredAnchor, 'stamp'>; more: boolean }
  | { kind: 'nothing' }
  | { kind: 'busy' };

const LEAVES_PER_PAGE = 5_000;
const MAX_LEAVES = 2 ** 20;

/**
 * Closes the checks that are not anchored yet into one anchor. Reads their leaves in pages, assigns their indexes, and writes
 * the anchor and its pending time-stamp, all in one transaction. A period without checks gets no anchor, since that would
 * prove nothing and cost a time-stamp. See docs/evidence.md.
 */
export const closeNextAnchor =
  ({ closeAlone, now, pageLeaves = LEAVES_PER_PAGE, maxLeaves = MAX_LEAVES }: CloseNextAnchorDeps) =>
  async (): Promise<Closing> => {
    const closed = await closeAlone<Closing>(async ({ previous: bytes, take, write }) => {
      const previous = bytes === null ? null : decodeAnchor(bytes);
      const tree = openTreeBuilder();
      let size = 0;
      while (size < maxLeaves) {
        const wanted = Math.min(pageLeaves, maxLeaves - size);
        const leaves = await take((previous?.seq ?? 0) + 1, size, wanted);
        tree.add(leaves);
        size += leaves.length / 32;
        if (leaves.length / 32 < wanted) break;
      }
      if (size === 0) return { kind: 'nothing' };
      const { root, nodes } = tree.finish();
      const anchor = closeAnchor({ previous, size, root, closedAt: now() });
      const closedAt = new Date(anchor.closed_at);
      const stored = {
        id: newUuidAt(closedAt),
        seq: anchor.seq,
        closedAt,
        treeSize: size,
        root,
        prevAnchorHash: Buffer.from(anchor.prev_anchor_hash, 'hex'),
        hash: Buffer.from(hashAnchor(anchor), 'hex'),
        body: encodeAnchor(anchor),
      };
      await write({ ...stored, nodes });
      return { kind: 'closed', anchor: stored, more: size === maxLeaves };
    });
    return closed === null ? { kind: 'busy' } : closed.done;
  };
