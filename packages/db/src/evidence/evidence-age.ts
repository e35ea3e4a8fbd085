import type { StampKind } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { timeOfId } from './time-of-id.js';

/** What of the evidence is still to come. Dates of the oldest; null where nothing waits. */
export type EvidenceAge = {
  unanchoredSince: Date | null;
  stamps: Record<StampKind, { pending: number; since: Date | null }>;
};

/** Looks how long checks wait for their anchor, and stamps for their token. */
export const evidenceAge = (db: Queryable) => async (): Promise<EvidenceAge> => {
  const [oldest] = await db.$queryRaw<{ check_id: string }[]>`
      SELECT check_id FROM anchor_leaf WHERE anchor_seq IS NULL ORDER BY check_id LIMIT 1`;
  const rows = await db.$queryRaw<{ kind: StampKind; pending: number; since: Date }[]>`
      SELECT kind, count(*)::int AS pending, min(requested_at) AS since FROM stamp WHERE token IS NULL GROUP BY kind`;
  const of = (kind: StampKind) => {
    const row = rows.find((candidate) => candidate.kind === kind);
    return { pending: row?.pending ?? 0, since: row?.since ?? null };
  };
  return {
    unanchoredSince: oldest ? timeOfId(oldest.check_id) : null,
    stamps: { check: of('check'), anchor: of('anchor') },
  };
};
