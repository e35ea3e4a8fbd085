import { publicId } from '@vat/domain';
import type { DossierWatchChange } from './dossier-source.js';

/** Columns of `watch-changes.csv`. */
export const WATCH_CHANGE_COLUMNS = [
  'changed_at',
  'vat_number',
  'label',
  'kind',
  'before',
  'after',
  'check_id',
  'watch_id',
];

/** A change as a row of `watch-changes.csv`. */
export const watchChangeCells = (change: DossierWatchChange): string[] => [
  change.changedAt.toISOString(),
  change.vatNumber,
  change.label ?? '',
  change.kind,
  change.before === null ? '' : String(change.before),
  change.after === null ? '' : String(change.after),
  publicId('check', change.checkId),
  publicId('watch', change.watchId),
];
