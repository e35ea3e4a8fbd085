import type { OverdueRequest } from '@vat/domain';
import type { Producer } from './create-producer.js';
import { askQueueOf, settleQueue } from './job-catalogue.js';
import { priorityClassOf } from './priority-class-of.js';

/** Gives requests the jobs they should have: an ask at their due time, or the recording of their answer now. */
export const enqueueOverdue =
  (producer: Pick<Producer, 'enqueueAll'>) =>
  async (requests: OverdueRequest[]): Promise<void> => {
    const byQueue = new Map<string, OverdueRequest[]>();
    for (const request of requests) {
      const { name } = request.answered ? settleQueue : askQueueOf(request);
      byQueue.set(name, [...(byQueue.get(name) ?? []), request]);
    }
    for (const group of byQueue.values()) {
      const [first] = group;
      if (!first) continue;
      await producer.enqueueAll(
        first.answered ? settleQueue : askQueueOf(first),
        group.map((request) => ({
          payload: { request_id: request.id },
          priority: priorityClassOf(request),
          dueAt: request.dueAt,
        })),
      );
    }
  };
