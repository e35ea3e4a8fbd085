import { CHANGE_KINDS, publicId, type RecordedChange, WATCH_FREQUENCIES, WATCH_STATES, type Watch } from '@vat/domain';
import { z } from 'zod';
import { idOf, instant, numberFields, printable, requesterText } from './text.js';

const LABEL_MAX = 100;

const label = () =>
  printable(LABEL_MAX)
    .nullable()
    .optional()
    .describe(`Your own name for the watch, 1 to ${LABEL_MAX} printable characters, or null.`);
const frequency = () => z.enum(WATCH_FREQUENCIES);

/** Body of POST /v1/watches. Unknown fields are refused. */
export const watchRequestBody = z.strictObject({
  ...numberFields,
  label: label(),
  frequency: frequency().describe(
    'How often the number is checked. Your plan determines which frequencies are available.',
  ),
  requester_vat_number: requesterText().describe(
    'Your own VAT number. Each run then has a consultation number as proof of the lookup.',
  ),
});

/** Body of PATCH /v1/watches/{id}. Omitted fields are not changed. */
export const watchAmendmentBody = z.strictObject({
  label: label(),
  frequency: frequency().optional(),
  status: z.enum(WATCH_STATES).optional().describe('`paused` stops the runs; `active` resumes them.'),
});

/** A watch. */
export const watchSchema = z
  .strictObject({
    watch_id: idOf('watch'),
    object: z.literal('watch'),
    vat_number: z.string(),
    label: z.string().nullable(),
    frequency: z.enum(WATCH_FREQUENCIES),
    status: z.enum(WATCH_STATES),
    last_check_id: idOf('check').nullable().describe('The latest check. Null before the first one.'),
    last_checked_at: instant().nullable(),
    missed_since: instant()
      .nullable()
      .describe(
        'Since when the number could not be checked: the time of the first run without a check after the last check. Null when the last run ended with a check.',
      ),
    next_check_at: instant().describe(
      'The time of the next check while the watch is active. At most 24 hours away after a run without a check.',
    ),
    created_at: instant(),
  })
  .meta({ id: 'Watch', description: 'A VAT number that is checked regularly.' });

const changed = () => z.union([z.boolean(), z.string()]).nullable();
export const changeFields = { kind: z.enum(CHANGE_KINDS), before: changed(), after: changed() };

/** A change that a run found. */
export const changeSchema = z
  .strictObject({
    ...changeFields,
    check_id: idOf('check').describe('The check that found the change.'),
    changed_at: instant(),
  })
  .meta({
    id: 'WatchChange',
    description:
      'A difference between two checks. `before` and `after` are booleans for `validity`, and text or null for `name` and `address`.',
  });

/** A watch. */
export const presentWatch = (watch: Watch): z.input<typeof watchSchema> => ({
  watch_id: publicId('watch', watch.id),
  object: 'watch',
  vat_number: watch.vatNumber,
  label: watch.label,
  frequency: watch.frequency,
  status: watch.state,
  last_check_id: watch.lastCheckId === null ? null : publicId('check', watch.lastCheckId),
  last_checked_at: watch.lastCheckedAt?.toISOString() ?? null,
  missed_since: watch.missedSince?.toISOString() ?? null,
  next_check_at: watch.nextCheckAt.toISOString(),
  created_at: watch.createdAt.toISOString(),
});

/** An entry of GET /v1/watches/{id}/changes. */
export const presentChange = (change: RecordedChange): z.input<typeof changeSchema> => ({
  kind: change.kind,
  before: change.before,
  after: change.after,
  check_id: publicId('check', change.checkId),
  changed_at: change.changedAt.toISOString(),
});
