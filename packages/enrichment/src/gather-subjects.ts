import type { EnrichmentSubject } from '@vat/domain';

type GatherDeps<Result> = {
  /** Different numbers that one search takes. */
  size: number;
  numberOf: (subject: EnrichmentSubject) => string;
  /** Makes the search of what was gathered, `waitedMs` after its first subject came. */
  search: (subjects: readonly EnrichmentSubject[], waitedMs: number) => Promise<Result>;
};

type Gathering<Result> = {
  subjects: Map<string, EnrichmentSubject>;
  openedAt: number;
  closesAt: number;
  timer: NodeJS.Timeout | undefined;
  close: () => void;
  result: Promise<Result>;
};

/**
 * Puts subjects of one account into one search. `join` waits at most `waitMs` for others, less where one of the others
 * waits less, and gives the result that all of them share.
 */
export const gatherSubjects = <Result>({ size, numberOf, search }: GatherDeps<Result>) => {
  const open = new Map<string, Gathering<Result>>();

  const start = (accountId: string): Gathering<Result> => {
    let settle: (result: Promise<Result>) => void = () => undefined;
    const result = new Promise<Result>((resolve) => {
      settle = resolve;
    });
    const openedAt = performance.now();
    const gathering: Gathering<Result> = {
      subjects: new Map(),
      openedAt,
      closesAt: Number.POSITIVE_INFINITY,
      timer: undefined,
      close: () => {
        clearTimeout(gathering.timer);
        open.delete(accountId);
        settle(search([...gathering.subjects.values()], performance.now() - openedAt));
      },
      result,
    };
    open.set(accountId, gathering);
    return gathering;
  };

  return (subject: EnrichmentSubject, waitMs: number): Promise<Result> => {
    const gathering = open.get(subject.accountId) ?? start(subject.accountId);
    gathering.subjects.set(numberOf(subject), subject);
    const closesAt = performance.now() + waitMs;
    if (gathering.subjects.size >= size) gathering.close();
    else if (closesAt < gathering.closesAt) {
      clearTimeout(gathering.timer);
      gathering.closesAt = closesAt;
      gathering.timer = setTimeout(gathering.close, waitMs);
    }
    return gathering.result;
  };
};
