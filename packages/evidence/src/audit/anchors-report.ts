/** One thing that is not as it was recorded. Ids are public ids; `detail` is a sentence for a person. */
export type AnchorDifference = { kind: string; anchor_seq?: number; check_id?: string; detail: string };

/** What a walk over all evidence found. It holds when there are no differences; `whole` is false when it was called off. */
export type AnchorsReport = {
  anchors: number;
  leaves: number;
  /** Tokens of checks. */
  stamps: number;
  /** Tokens of the development authority among all: they hold together, and prove nothing to anybody else. */
  development: number;
  differences: AnchorDifference[];
  /** Differences beyond the most that are listed. */
  leftOff: number;
  whole: boolean;
};

/** More of them tell nobody more. */
const MOST_DIFFERENCES = 200;

/** Counts and notes while the walk goes on. */
export type ReportKeeper = { report: AnchorsReport; differs: (difference: AnchorDifference) => void };

/** An empty report. */
export const openReport = (): ReportKeeper => {
  const report: AnchorsReport = {
    anchors: 0,
    leaves: 0,
    stamps: 0,
    development: 0,
    differences: [],
    leftOff: 0,
    whole: true,
  };
  return {
    report,
    differs: (difference) => {
      if (report.differences.length < MOST_DIFFERENCES) report.differences.push(difference);
      else report.leftOff += 1;
    },
  };
};
