import { type DueStamp, publicId } from '@vat/domain';
import type { Closing } from '@vat/evidence/proof';
import type { JobHandler } from '@vat/queues';
import { errorFields, type Logger } from '@vat/runtime';

export type CloseAnchorsDeps = {
  closeNext: () => Promise<Closing>;
  /** If it fails, the sweep finds the stamp. */
  enqueueStamp: (stamp: DueStamp) => Promise<void>;
  log: Logger;
};

/** Closes what waits into an anchor, or several where one would be too large, and has each stamped. */
export const closeAnchors =
  ({ closeNext, enqueueStamp, log }: CloseAnchorsDeps): JobHandler<{ task: 'close' }> =>
  async (_job, { stopping }) => {
    while (!stopping.aborted) {
      const startedAt = performance.now();
      const closing = await closeNext();
      if (closing.kind !== 'closed') return undefined;
      const { id, seq, treeSize, closedAt } = closing.anchor;
      const anchor = publicId('anchor', id);
      const durationMs = Math.round(performance.now() - startedAt);
      log.info('An anchor was closed.', { anchor, seq, tree_size: treeSize, duration_ms: durationMs });
      await enqueueStamp({ subjectId: id, dueAt: closedAt }).catch((error: unknown) =>
        log.warn('The stamp of an anchor was not enqueued; the sweep will.', { anchor, ...errorFields(error) }),
      );
      if (!closing.more) return undefined;
    }
    return { again: new Date() };
  };
