import { type CloseAlone, newUuid, type StoredAnchor } from '@vat/domain';
import { openTreeBuilder } from '../tree/tree-blocks.js';
import { ANCHOR_ALGORITHM, type Anchor, decodeAnchor, encodeAnchor, hashAnchor, NO_ANCHOR_HASH } from './anchor.js';

type CloseAnchor = {
  /** The newest anchor, or null when there is none yet. */
  previous: Anchor | null;
  /** Of the tree of the checks that are anchored now. */
  size: number;
  root: Uint8Array;
  closedAt: Date;
};

/**
 * The anchor that follows `previous`. A clock that was set back does not break the order: it is closed no earlier than its
 * predecessor. Throws when the tree is empty.
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

export type CloseNextAnchorDeps = {
  closeAlone: CloseAlone;
  now: () => Date;
  /** Leaves read, placed and hashed between two turns of the event loop. */
  pageLeaves?: number;
  /** The most leaves of one anchor: what one transaction holds. More follow in the next. */
  maxLeaves?: number;
};

/** `closed`, `nothing` (no check waits), or `busy` (another closer is at it). `more`: the anchor is as large as may be. */
export type Closing =
  | { kind: 'closed'; anchor: Omit<StoredAnchor, 'stamp'>; more: boolean }
  | { kind: 'nothing' }
  | { kind: 'busy' };

const LEAVES_PER_PAGE = 5_000;
const MAX_LEAVES = 2 ** 20;

/**
 * Closes the checks not yet anchored into one anchor: reads their leaves in slices, gives them their places, and writes the
 * anchor and that it is to be stamped, all in one transaction. A period without checks makes no anchor: it would
 * prove nothing and cost a time-stamp. Source: contract part 2 §7.
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
      const stored = {
        id: newUuid(),
        seq: anchor.seq,
        closedAt: new Date(anchor.closed_at),
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
