import { auditedFrom } from '@vat/domain';
import { DAY_MS, idAt } from '../uuid-bounds.js';
import { connectDdl } from './ddl.js';
import { dropExpired } from './drop-partitions.js';
import { makeMonths } from './make-partitions.js';
import { PARTITIONED, type PartitionedTable } from './partitions.js';

/** What expires: rows recorded before these points in time. */
type Expiry = { evidenceBefore: Date; deliveriesBefore: Date };

/**
 * The names of the partitions. `left`: more have expired. `failures`: what could not be done, which the next run tries again.
 */
type PartitionsMaintained = { made: string[]; dropped: string[]; left: boolean; failures: unknown[] };

/**
 * Makes the partitions of the months ahead and drops those whose rows have all expired, at most so many. Each change takes effect
 * by itself, and keeps the statements of one table waiting for milliseconds. A large partition keeps the disk busy for half a
 * second, so a service drops them at intervals.
 */
export const maintainPartitions =
  (url: string) =>
  async (
    now: Date,
    { evidenceBefore, deliveriesBefore }: Expiry,
    { atMost = Number.POSITIVE_INFINITY } = {},
  ): Promise<PartitionsMaintained> => {
    const ddl = await connectDdl(url);
    try {
      const [made, failures]: [string[], unknown[]] = [[], []];
      for (const table of Object.keys(PARTITIONED) as PartitionedTable[])
        await makeMonths(ddl, table, now).then(
          (months) => made.push(...months),
          (error: unknown) => failures.push(error),
        );
      // What is recorded now may have an id of yesterday, and needs its partition.
      const latest = now.getTime() - 2 * DAY_MS;
      const bound = (before: Date) => idAt(new Date(Math.min(before.getTime(), latest)));
      const bounds = {
        evidenceBound: bound(evidenceBefore),
        deliveryBound: bound(deliveriesBefore),
        unitsBound: idAt(auditedFrom(now)),
      };
      const expired = await dropExpired(ddl, { ...bounds, atMost });
      return { made, ...expired, failures: [...failures, ...expired.failures] };
    } finally {
      await ddl.close();
    }
  };
