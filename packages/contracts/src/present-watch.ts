import { publicId, type RecordedChange, type Watch } from '@vat/domain';

/** A watch. Source: contract part 2 §6. */
export const presentWatch = (watch: Watch) => ({
  watch_id: publicId('watch', watch.id),
  object: 'watch' as const,
  vat_number: watch.vatNumber,
  label: watch.label,
  frequency: watch.frequency,
  status: watch.state,
  last_check_id: watch.lastCheckId && publicId('check', watch.lastCheckId),
  last_checked_at: watch.lastCheckedAt?.toISOString() ?? null,
  next_check_at: watch.nextCheckAt.toISOString(),
  created_at: watch.createdAt.toISOString(),
});

/** An entry of GET /v1/watches/{id}/changes. */
export const presentChange = ({ kind, before, after, checkId, changedAt }: RecordedChange) => ({
  kind,
  before,
  after,
  check_id: publicId('check', checkId),
  changed_at: changedAt.toISOString(),
});
