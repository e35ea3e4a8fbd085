import { CHANGE_KINDS, WATCH_FREQUENCIES, WATCH_STATES } from '@vat/domain';
import { z } from 'zod';
import { idOf, instant } from './instant.js';

/** A watch. Source: contract part 2 §6. */
export const watchSchema = z
  .strictObject({
    watch_id: idOf('wat'),
    object: z.literal('watch'),
    vat_number: z.string(),
    label: z.string().nullable(),
    frequency: z.enum(WATCH_FREQUENCIES),
    status: z.enum(WATCH_STATES),
    last_check_id: idOf('chk').nullable().describe('The latest check; null before the first.'),
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
    check_id: idOf('chk').describe('The check that observed it.'),
    changed_at: instant(),
  })
  .meta({
    id: 'WatchChange',
    description: 'A difference between two answers: booleans of `validity`, texts or null of `name` and `address`.',
  });
