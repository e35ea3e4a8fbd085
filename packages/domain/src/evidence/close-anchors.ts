import type { StoredAnchor } from './anchor.js';
import type { DueStamp } from './evidence.js';

export type ClosedAnchor = Pick<StoredAnchor, 'id' | 'seq' | 'treeSize' | 'closedAt'>;

type CloseAnchorsDeps = {
  /** Closes the next anchor. Any other kind: nothing is to be closed, or another process closes. `more`: leaves are left. */
  closeNext: () => Promise<{ kind: 'closed'; anchor: ClosedAnchor; more: boolean } | { kind: 'nothing' | 'busy' }>;
  enqueueStamp: (stamp: DueStamp) => Promise<void>;
  onClosed: (anchor: ClosedAnchor, durationMs: number) => void;
  /** Called when a time-stamp was not enqueued; the sweep finds it. */
  onEnqueueFailure: (anchor: ClosedAnchor, error: unknown) => void;
  now: () => Date;
};

/**
 * Closes the waiting checks into one anchor, or into several where one would be too large, and enqueues the time-stamp of
 * each. Returns false when it stopped before all were closed.
 */
export const closeAnchors =
  ({ closeNext, enqueueStamp, onClosed, onEnqueueFailure, now }: CloseAnchorsDeps) =>
  async (stopping: AbortSignal): Promise<boolean> => {
    while (!stopping.aborted) {
      const startedAt = now().getTime();
      const closing = await closeNext();
      if (closing.kind !== 'closed') return true;
      const { anchor } = closing;
      onClosed(anchor, now().getTime() - startedAt);
      await enqueueStamp({ subjectId: anchor.id, dueAt: anchor.closedAt }).catch((error: unknown) =>
        onEnqueueFailure(anchor, error),
      );
      if (!closing.more) return true;
    }
    return false;
  };
