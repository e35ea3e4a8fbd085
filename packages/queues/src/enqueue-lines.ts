import type { FedLine, MemberState } from '@vat/domain';
import type { Producer } from './create-producer.js';
import { upstreamQueue } from './job-catalogue.js';

/** Gives lines that were fed their jobs: after everything interactive and in the background, low ranks first. */
export const enqueueLines =
  (producer: Pick<Producer, 'enqueueAll'>) =>
  (memberState: MemberState, lines: readonly FedLine[]): Promise<void> =>
    producer.enqueueAll(
      upstreamQueue(memberState),
      lines.map(({ id, rank }) => ({ payload: { request_id: id }, priority: 'batch' as const, rank })),
    );
