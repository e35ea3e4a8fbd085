import { periodOf } from '../account/period.js';
import { monthlyQuota } from '../account/plans.js';
import { newUuid } from '../ids.js';
import { openingEntry } from '../request/opening-entry.js';
import { readVatNumber } from '../vat-number/index.js';
import { nextCheckAt } from './next-check-at.js';
import type { DueWatch, RunToStart } from './run.js';

/**
 * The run of a watch that is due. A run that must be skipped (quota spent, account disabled) is put off to the watch's
 * moment of the next day, a weekly one too: a week later the month may be over.
 */
export const planRun = (watch: DueWatch, giveUpAfterMs: number, now: Date): RunToStart => {
  const read = readVatNumber(watch.vatNumber);
  const checksumFailed = read.kind === 'well_formed' && read.checksum === 'failed';
  return {
    watchId: watch.id,
    requestId: newUuid(),
    entries: [openingEntry({ malformed: null, checksumFailed }, now)],
    now,
    giveUpAt: new Date(now.getTime() + giveUpAfterMs),
    quota: { period: periodOf(now), limit: monthlyQuota(watch) },
    nextCheckAt: nextCheckAt(watch.id, watch.frequency, now),
    retryAt: nextCheckAt(watch.id, 'daily', now),
    asIfDue: false,
  };
};
