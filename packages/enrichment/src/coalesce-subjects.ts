import type { EnrichmentSubject } from '@vat/domain';

type CoalesceDeps<Result> = {
  /** The maximum of different numbers in one search. */
  size: number;
  numberOf: (subject: EnrichmentSubject) => string;
  /** Makes the search for the collected subjects, `waitedMs` after the first of them was added. */
  search: (subjects: readonly EnrichmentSubject[], waitedMs: number) => Promise<Result>;
};

type OpenBatch<Result> = {
  subjects: Map<string, EnrichmentSubject>;
  closesAt: number;
  timer: NodeJS.Timeout | undefined;
  close: () => void;
  result: Promise<Result>;
};

/**
 * Combines subjects of one account into one search. The returned function waits at most `waitMs` for other subjects, less
 * if one of those waits less, and returns the result that all of them share.
 */
export const coalesceSubjects = <Result>({ size, numberOf, search }: CoalesceDeps<Result>) => {
  const open = new Map<string, OpenBatch<Result>>();

  const start = (accountId: string): OpenBatch<Result> => {
    let settle: (result: Promise<Result>) => void = () => undefined;
    const result = new Promise<Result>((resolve) => {
      settle = resolve;
    });
    const openedAt = performance.now();
    const batch: OpenBatch<Result> = {
      subjects: new Map(),
      closesAt: Number.POSITIVE_INFINITY,
      timer: undefined,
      close: () => {
        clearTimeout(batch.timer);
        open.delete(accountId);
        settle(search([...batch.subjects.values()], performance.now() - openedAt));
      },
      result,
    };
    open.set(accountId, batch);
    return batch;
  };

  return (subject: EnrichmentSubject, waitMs: number): Promise<Result> => {
    const batch = open.get(subject.accountId) ?? start(subject.accountId);
    batch.subjects.set(numberOf(subject), subject);
    const closesAt = performance.now() + waitMs;
    if (batch.subjects.size >= size) batch.close();
    else if (closesAt < batch.closesAt) {
      clearTimeout(batch.timer);
      batch.closesAt = closesAt;
      batch.timer = setTimeout(batch.close, waitMs);
    }
    return batch.result;
  };
};
