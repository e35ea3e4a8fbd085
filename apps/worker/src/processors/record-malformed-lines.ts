import type { MalformedLine, SettledLine } from '@vat/db';
import { type Answer, type CheckRequest, type PublishChange, publicId } from '@vat/domain';
import type { BatchStep } from '../batch-progress.js';
import type { makeCheck, recordCheck } from './settle-check.js';

type RecordMalformedLinesDeps = {
  /** The next ones that wait for their check. */
  find: (limit: number) => Promise<CheckRequest[]>;
  start: (requestIds: readonly string[]) => Promise<void>;
  make: ReturnType<typeof makeCheck>;
  settle: (lines: readonly MalformedLine[], now: Date) => Promise<SettledLine[]>;
  /** For what is being recorded by another process at this moment, and for an answer of another kind, should one wait here. */
  recordCheck: ReturnType<typeof recordCheck>;
  /** Told of every request that was recorded. */
  advanced: (step: BatchStep) => void;
  publishChange: PublishChange;
  now: () => Date;
  stopping: AbortSignal;
};

/** Recorded in one statement, some ten milliseconds: one at a time, ten thousand would take as many round trips. */
const SLICE = 200;

type Answered = CheckRequest & { answer: Answer };
const isAnswered = (request: CheckRequest): request is Answered => request.answer !== null;

/** Records the checks of malformed numbers in batches, which need no upstream. One run at a time in a process. */
export const recordMalformedLines = (deps: RecordMalformedLinesDeps) => {
  const { find, start, make, settle, recordCheck, advanced, publishChange, now, stopping } = deps;

  /** Returns what it did not record. */
  const recordPage = async (slice: Answered[]): Promise<Answered[]> => {
    const lines = slice.map((request) => ({ request, requestId: request.id, ...make(request, request.answer) }));
    const settled = new Map((await settle(lines, now())).map((line) => [line.requestId, line.batchId]));
    const batches = new Map<string, string>();
    for (const { request, check } of lines) {
      const batchId = settled.get(request.id);
      if (batchId === undefined) continue;
      advanced({ memberState: request.memberState, batchId });
      publishChange(request.accountId, 'checks', publicId('check', check.id));
      if (batchId !== null) batches.set(batchId, request.accountId);
    }
    for (const [batchId, accountId] of batches) publishChange(accountId, 'batches', publicId('batch', batchId));
    return slice.filter(({ id }) => !settled.has(id));
  };

  const recordAll = async (): Promise<void> => {
    for (;;) {
      const slice = (await find(SLICE)).filter(isAnswered);
      if (slice.length === 0 || stopping.aborted) return;
      await start(slice.map((request) => request.id));
      for (const request of await recordPage(slice))
        if (!stopping.aborted)
          await recordCheck({ job: { request_id: request.id }, request, answer: request.answer, exchanges: [] });
    }
  };
  let running: Promise<void> = Promise.resolve();
  return (): Promise<void> => {
    const run = running.then(recordAll);
    running = run.catch(() => undefined);
    return run;
  };
};
