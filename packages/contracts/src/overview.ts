import { type AccountChange, publicId } from '@vat/domain';
import { z } from 'zod';
import { pageQuery } from './lists.js';
import { presentChange } from './watch.js';

/** GET /app/api/overview. */
export const presentOverview = (overview: {
  days: { date: string; valid: number; invalid: number; malformed: number }[];
  changes: AccountChange[];
  failedDeliveries: number;
  activeBatches: number;
  pendingRequests: number;
}) => ({
  checks_per_day: overview.days,
  changes: overview.changes.map((change) => ({
    watch_id: publicId('watch', change.watchId),
    vat_number: change.vatNumber,
    label: change.label,
    ...presentChange(change),
  })),
  failed_deliveries: overview.failedDeliveries,
  active_batches: overview.activeBatches,
  pending_requests: overview.pendingRequests,
});

/** Query of GET /app/api/requests. */
export const requestListQuery = z.strictObject({
  ...pageQuery,
  status: z.enum(['pending', 'completed', 'abandoned']).optional(),
});
