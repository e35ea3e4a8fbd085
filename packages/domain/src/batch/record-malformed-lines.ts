import type { CheckRecord } from '../check/check.js';
import type { Answer } from '../check/upstream.js';
import { publicId } from '../ids.js';
import type { PublishChange } from '../page-update.js';
import type { RecordCheckDeps, recordCheck } from '../request/record-check.js';
import type { CheckRequest } from '../request/request.js';

type RecordMalformedLinesDeps = Pick<RecordCheckDeps, 'make' | 'advanced'> & {
  /** The next requests that wait for their check. */
  find: (limit: number) => Promise<CheckRequest[]>;
  /** Marks the batches of these requests as running. */
  start: (requestIds: readonly string[]) => Promise<void>;
  /** Records checks in one statement; returns the requests that ended. */
  settle: (
    lines: readonly { requestId: string; check: CheckRecord }[],
    now: Date,
  ) => Promise<{ requestId: string; batchId: string | null }[]>;
  /** For requests that `settle` left out: another process is recording them, or their answer is of another kind. */
  recordCheck: ReturnType<typeof recordCheck>;
  publishChange: PublishChange;
  now: () => Date;
  stopping: AbortSignal;
};

/** Requests recorded in one statement of some ten milliseconds; one at a time, ten thousand would take as many round trips. */
const CHUNK = 200;

type Answered = CheckRequest & { answer: Answer };
const isAnswered = (request: CheckRequest): request is Answered => request.answer !== null;

/** Records the checks of malformed numbers in batches, which need no upstream. One run at a time in a process. */
export const recordMalformedLines = (deps: RecordMalformedLinesDeps) => {
  const recordChunk = async (requests: Answered[]): Promise<Answered[]> => {
    const made = requests.map((request) => ({ request, check: deps.make(request, request.answer).check }));
    const lines = made.map(({ request, check }) => ({ requestId: request.id, check }));
    const settled = new Map((await deps.settle(lines, deps.now())).map((line) => [line.requestId, line.batchId]));
    const batches = new Map<string, string>();
    for (const { request, check } of made) {
      const batchId = settled.get(request.id);
      if (batchId === undefined) continue;
      deps.advanced({ memberState: request.memberState, batchId });
      deps.publishChange(request.accountId, 'checks', publicId('check', check.id));
      if (batchId !== null) batches.set(batchId, request.accountId);
    }
    for (const [batchId, accountId] of batches) deps.publishChange(accountId, 'batches', publicId('batch', batchId));
    return requests.filter(({ id }) => !settled.has(id));
  };

  const recordAll = async (): Promise<void> => {
    for (;;) {
      const requests = (await deps.find(CHUNK)).filter(isAnswered);
      if (requests.length === 0 || deps.stopping.aborted) return;
      await deps.start(requests.map(({ id }) => id));
      for (const request of await recordChunk(requests))
        if (!deps.stopping.aborted)
          await deps.recordCheck({ ref: { requestId: request.id }, request, answer: request.answer, exchanges: [] });
    }
  };
  let running: Promise<void> = Promise.resolve();
  return (): Promise<void> => {
    const run = running.then(recordAll);
    running = run.catch(() => undefined);
    return run;
  };
};
