import { atTheEdge, WATCH_FREQUENCIES, WATCH_STATES } from '@vat/domain';
import { z } from 'zod';
import { numberText, printable } from './text.js';

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
    .overwrite(atTheEdge)
    .max(10, 'must be two letters, such as DE')
    .optional()
    .describe('Two letters, needed when the number has no prefix. GR and EL both mean Greece.'),
  label: label(),
  frequency: frequency().describe('How often to ask; which your plan sells is in the plans.'),
  // No length is judged here: whatever is no VAT number, an empty text too, is INVALID_REQUESTER and not BAD_REQUEST.
  requester_vat_number: z
    .string()
    .overwrite(atTheEdge)
    .optional()
    .describe('Your own VAT number; each run then has a consultation number as proof of the enquiry.'),
});

/** Body of PATCH /v1/watches/{id}. What is left out stays as it is. */
export const watchAmendmentBody = z.strictObject({
  label: label(),
  frequency: frequency().optional(),
  status: z.enum(WATCH_STATES).optional().describe('`paused` stops the runs; `active` resumes them.'),
});
