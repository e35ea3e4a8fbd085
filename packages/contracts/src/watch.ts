import {
  CHANGE_KINDS,
  publicId,
  type RecordedChange,
  stripUnsafeCharacters,
  WATCH_FREQUENCIES,
  WATCH_STATES,
  type Watch,
} from '@vat/domain';
import { z } from 'zod';
import { idOf, instant, numberText, printable } from './text.js';

const LABEL_MAX = 100;

const label = () =>
  printable(LABEL_MAX)
    .nullable()
    .optional()
    .describe(`Your own name for it, 1 to ${LABEL_MAX} printable characters; null for none.`);
const frequency = () => z.enum(WATCH_FREQUENCIES);

/** Body of POST /v1/watches. Source: contract part 2 §6. Unknown fields are refused. */
export const watchRequestBody = z.strictObject({
  vat_number: numberText().describe('The number as it was written, with or without its country prefix.'),
  country_code: z
    .string()
    .overwrite(stripUnsafeCharacters)
    .max(10, 'must be two letters, such as DE')
    .optional()
    .describe('Two letters, needed when the number has no prefix. GR and EL both mean Greece.'),
  label: label(),
  frequency: frequency().describe('How often to ask; which your plan sells is in the plans.'),
  // No length is judged here: whatever is no VAT number, an empty text too, is INVALID_REQUESTER and not BAD_REQUEST.
  requester_vat_number: z
    .string()
    .overwrite(stripUnsafeCharacters)
    .optional()
    .describe('Your own VAT number; each run then has a consultation number as proof of the enquiry.'),
});

/** Body of PATCH /v1/watches/{id}. What is left out stays as it is. */
export const watchAmendmentBody = z.strictObject({
  label: label(),
  frequency: frequency().optional(),
  status: z.enum(WATCH_STATES).optional().describe('`paused` stops the runs; `active` resumes them.'),
});

/** A watch. Source: contract part 2 §6. */
export const watchSchema = z
  .strictObject({
    watch_id: idOf('watch'),
    object: z.literal('watch'),
    vat_number: z.string(),
    label: z.string().nullable(),
    frequency: z.enum(WATCH_FREQUENCIES),
    status: z.enum(WATCH_STATES),
    last_check_id: idOf('check').nullable().describe('The latest check; null before the first.'),
    last_checked_at: instant().nullable(),
    next_check_at: instant().describe('When the number is asked about next, while the watch is active.'),
    created_at: instant(),
  })
  .meta({ id: 'Watch', description: 'A number that is asked about again and again.' });

/** A change that was observed. Source: contract part 2 §6. */
export const changeSchema = z
  .strictObject({
    kind: z.enum(CHANGE_KINDS),
    before: z.union([z.boolean(), z.string()]).nullable(),
    after: z.union([z.boolean(), z.string()]).nullable(),
    check_id: idOf('check').describe('The check that observed it.'),
    changed_at: instant(),
  })
  .meta({
    id: 'WatchChange',
    description: 'A difference between two answers: booleans of `validity`, texts or null of `name` and `address`.',
  });

/** A watch. Source: contract part 2 §6. */
export const presentWatch = (watch: Watch): z.input<typeof watchSchema> => ({
  watch_id: publicId('watch', watch.id),
  object: 'watch',
  vat_number: watch.vatNumber,
  label: watch.label,
  frequency: watch.frequency,
  status: watch.state,
  last_check_id: watch.lastCheckId === null ? null : publicId('check', watch.lastCheckId),
  last_checked_at: watch.lastCheckedAt?.toISOString() ?? null,
  next_check_at: watch.nextCheckAt.toISOString(),
  created_at: watch.createdAt.toISOString(),
});

/** An entry of GET /v1/watches/{id}/changes. */
export const presentChange = ({
  kind,
  before,
  after,
  checkId,
  changedAt,
}: RecordedChange): z.input<typeof changeSchema> => ({
  kind,
  before,
  after,
  check_id: publicId('check', checkId),
  changed_at: changedAt.toISOString(),
});
