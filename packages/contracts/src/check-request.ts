import { atTheEdge, COMPANY_TYPE } from '@vat/domain';
import { z } from 'zod';
import { numberText, printable } from './text.js';

const TRADER_MAX = 200;

/** Body of POST /v1/checks. Source: contract part 2 §4. Unknown fields are refused. */
export const checkRequestBody = z.strictObject({
  vat_number: numberText().describe('The number as it was written, with or without its country prefix.'),
  country_code: z
    .string()
    .overwrite(atTheEdge)
    .max(10, 'must be two letters, such as DE')
    .optional()
    .describe('Two letters, needed when the number has no prefix. GR and EL both mean Greece.'),
  // No length is judged here: whatever is no VAT number, an empty text too, is INVALID_REQUESTER and not BAD_REQUEST.
  requester_vat_number: z
    .string()
    .overwrite(atTheEdge)
    .optional()
    .describe('Your own VAT number; VIES then gives a consultation number as proof of the enquiry.'),
  reference: printable(64).optional().describe('Your own name for this check, 1 to 64 printable characters.'),
  trader: z
    .strictObject({
      name: printable(TRADER_MAX).optional(),
      street: printable(TRADER_MAX).optional(),
      postal_code: printable(TRADER_MAX).optional(),
      city: printable(TRADER_MAX).optional(),
      company_type: z
        .string()
        .overwrite(atTheEdge)
        .regex(COMPANY_TYPE, 'must be a member state and a number from 1 to 99, such as ES-1')
        .optional()
        .describe(
          'The legal form as VIES codes it: a member state, a hyphen, and a number from 1 to 99, such as ES-1.',
        ),
    })
    .optional()
    .describe('What you believe about the trader; VIES matches it approximately where the member state supports it.'),
});

export type CheckRequestBody = z.infer<typeof checkRequestBody>;
