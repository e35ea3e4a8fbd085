import { timeOfId } from '../uuid-bounds.js';
import { type Ddl, exists } from './ddl.js';
import { listPartitions, type Partition, type PartitionedTable, partition } from './partitions.js';

/** Rows per statement, so that each statement is short. */
const CHUNK = 5_000;

/** Deletes up to {@link CHUNK} rows that belong to a partition, from $1 to $2, and are not in partitions of its months. */
const BELONGING: Partial<Record<PartitionedTable, string>> = {
  // A check that was recorded after the end of the month of its request: nothing finds it once the request is gone.
  request: `
    WITH old AS MATERIALIZED (
      SELECT c.id FROM request r JOIN "check" c ON c.id = r.check_id AND c.id >= $2
      WHERE r.id >= $1 AND r.id < $2 AND r.check_id >= $2 LIMIT ${CHUNK}
    ), stamped AS (DELETE FROM stamp WHERE kind = 'check' AND subject_id = ANY(ARRAY(SELECT id FROM old)))
    DELETE FROM "check" WHERE id >= $2 AND id = ANY(ARRAY(SELECT id FROM old))`,
  // Time-stamps are few, and their table is not partitioned.
  check: `
    DELETE FROM stamp WHERE subject_id = ANY(ARRAY(
      SELECT subject_id FROM stamp WHERE kind = 'check' AND subject_id >= $1 AND subject_id < $2 LIMIT ${CHUNK}))`,
  // The delivery of a resend is of a later month than its event, without which it cannot be shown.
  event: `
    DELETE FROM delivery WHERE id = ANY(ARRAY(
      SELECT id FROM delivery WHERE state <> 'pending' AND event_id >= $1 AND event_id < $2 LIMIT ${CHUNK}))`,
};

const deleteBelonging = async ({ run }: Ddl, table: PartitionedTable, { from, to }: Partition): Promise<void> => {
  const statement = BELONGING[table];
  for (let n = CHUNK; statement !== undefined && n === CHUNK; ) n = (await run(statement, [from, to])).rowCount ?? 0;
};

/** Whether a partition must stay although all of its ids have expired. `bound`: lower than all ids that have not. */
type MustStay = (expired: Partition, bound: string) => Promise<boolean>;

const hasPendingDelivery = (ddl: Ddl, { from, to }: Partition): Promise<boolean> =>
  exists(ddl, `SELECT 1 FROM delivery WHERE state = 'pending' AND event_id >= $1 AND event_id < $2`, [from, to]);

/** Whether an event of the partition was resent since this was last read. From here on nobody can, until the transaction ends. */
const gainedDelivery = async (ddl: Ddl, expired: Partition): Promise<boolean> => {
  // In the order in which statements lock them.
  await ddl.run('LOCK TABLE ONLY "event" IN ACCESS EXCLUSIVE MODE');
  await ddl.run('LOCK TABLE ONLY "delivery" IN SHARE MODE');
  return hasPendingDelivery(ddl, expired);
};

const conditions = (ddl: Ddl): Partial<Record<PartitionedTable, MustStay>> => ({
  // A live request, or one that ended or whose check was recorded too late to have expired.
  request: ({ name }, bound) =>
    exists(
      ddl,
      `SELECT 1 FROM ${partition(name)} WHERE state IN ('waiting', 'pending') OR check_id >= $1 OR ended_at >= $2`,
      [bound, timeOfId(bound).toISOString()],
    ),
  exchange: ({ from, to }) => exists(ddl, 'SELECT 1 FROM request WHERE id >= $1 AND id < $2', [from, to]),
  event: (expired) => hasPendingDelivery(ddl, expired),
  delivery: ({ name }) => exists(ddl, `SELECT 1 FROM ${partition(name)} WHERE state = 'pending'`),
  delivery_attempt: ({ from, to }) => exists(ddl, 'SELECT 1 FROM delivery WHERE id >= $1 AND id < $2', [from, to]),
});

/** `unitsBound`: lower than the usage entries that the audit still counts. */
type Bounds = { evidenceBound: string; deliveryBound: string; unitsBound: string };

/**
 * Drops the partitions whose ids are all lower than their bound, at most so many. Leaves of anchors are not dropped, since proofs
 * need them. A partition with rows that must stay is not dropped: its other rows are deleted one by one (`deleteOldEvidence`).
 * Requests go before their exchanges, and deliveries before their attempts. `left`: more could be dropped.
 */
export const dropExpired = async (
  ddl: Ddl,
  { evidenceBound, deliveryBound, unitsBound, atMost }: Bounds & { atMost: number },
): Promise<{ dropped: string[]; left: boolean; failures: unknown[] }> => {
  const [dropped, failures]: [string[], unknown[]] = [[], []];
  const mustStay = conditions(ddl);
  // A delivery without its event cannot be shown.
  const deliveries = deliveryBound > evidenceBound ? deliveryBound : evidenceBound;
  const bounds: [PartitionedTable, string][] = [
    ['request', evidenceBound],
    ['exchange', evidenceBound],
    ['check', evidenceBound],
    ['usage_entry', unitsBound < evidenceBound ? unitsBound : evidenceBound],
    ['delivery', deliveries],
    ['delivery_attempt', deliveries],
    ['event', evidenceBound],
  ];
  for (const [table, bound] of bounds)
    for (const expired of (await listPartitions(ddl.reader, table)).filter(({ to }) => to <= bound))
      try {
        if (await mustStay[table]?.(expired, bound)) continue;
        if (dropped.length >= atMost) return { dropped, left: true, failures };
        await deleteBelonging(ddl, table, expired);
        const isDropped = await ddl.atOnce(async () => {
          if (table === 'event' && (await gainedDelivery(ddl, expired))) return false;
          await ddl.run(`DROP TABLE ${partition(expired.name)}`);
          return true;
        });
        if (isDropped) dropped.push(expired.name);
      } catch (error) {
        failures.push(error);
      }
  return { dropped, left: false, failures };
};
