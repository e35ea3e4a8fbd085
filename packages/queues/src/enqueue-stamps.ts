import type { DueStamp } from '@vat/domain';
import type { Producer } from './create-producer.js';
import { evidenceQueue } from './job-catalogue.js';

const jobOf = ({ subjectId, dueAt }: DueStamp) => ({
  payload: { task: 'stamp' as const, subject_id: subjectId },
  dueAt,
});

/** Gives one pending time-stamp the job of its next try. */
export const enqueueStamp =
  (producer: Pick<Producer, 'enqueue'>) =>
  (stamp: DueStamp): Promise<void> =>
    producer.enqueue({ definition: evidenceQueue, ...jobOf(stamp) });

/** The same for many. */
export const enqueueStamps =
  (producer: Pick<Producer, 'enqueueAll'>) =>
  (stamps: DueStamp[]): Promise<void> =>
    producer.enqueueAll(evidenceQueue, stamps.map(jobOf));
