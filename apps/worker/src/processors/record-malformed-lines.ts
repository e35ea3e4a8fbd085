import type { CheckRequest } from '@vat/domain';
import type { recordCheck } from './record-check.js';

export type RecordMalformedLinesDeps = {
  /** The next ones that wait for their check. */
  find: (limit: number) => Promise<CheckRequest[]>;
  start: (requestIds: readonly string[]) => Promise<void>;
  recordCheck: ReturnType<typeof recordCheck>;
  stopping: AbortSignal;
};

const SLICE = 200;
/** Side by side, each on a connection of its own: few enough to leave some for the asks. */
const AT_ONCE = 4;

/** Records the checks of malformed numbers in batches, which need no upstream. One run at a time in a process. */
export const recordMalformedLines = ({ find, start, recordCheck, stopping }: RecordMalformedLinesDeps) => {
  const recordAll = async (): Promise<void> => {
    for (;;) {
      const slice = await find(SLICE);
      if (slice.length === 0 || stopping.aborted) return;
      await start(slice.map((request) => request.id));
      const next = slice.values();
      const work = async (): Promise<void> => {
        for (const request of next)
          if (request.answer !== null && !stopping.aborted)
            await recordCheck({ job: { request_id: request.id }, request, answer: request.answer, exchanges: [] });
      };
      await Promise.all(Array.from({ length: AT_ONCE }, work));
    }
  };
  let running: Promise<void> = Promise.resolve();
  return (): Promise<void> => {
    const run = running.then(recordAll);
    running = run.catch(() => undefined);
    return run;
  };
};
