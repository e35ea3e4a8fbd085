import { MEMBER_STATES } from '@vat/domain';
import {
  batchesQueue,
  DELIVERY_QUEUES,
  evidenceQueue,
  maintenanceQueue,
  type QueueDefinition,
  sandboxQueue,
  settleQueue,
  upstreamQueue,
  watchesQueue,
} from './job-catalogue.js';

/** Every queue of the service, those of the member states first. */
export const ALL_QUEUES: readonly Pick<QueueDefinition, 'name'>[] = [
  ...MEMBER_STATES.map(upstreamQueue),
  sandboxQueue,
  settleQueue,
  ...Object.values(DELIVERY_QUEUES),
  batchesQueue,
  watchesQueue,
  evidenceQueue,
  maintenanceQueue,
];
