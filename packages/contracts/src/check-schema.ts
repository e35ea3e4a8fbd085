import { CHECK_OUTCOMES, CHECK_SOURCES, HASH_PROFILE, MEMBER_STATES, VERDICTS } from '@vat/domain';
import { z } from 'zod';
import { anchorPlaceSchema, timestampFactsSchema } from './evidence-schema.js';
import { idOf, instant } from './instant.js';

/** One entry of `checks`. */
export const checkEntrySchema = z
  .strictObject({
    source: z.enum(CHECK_SOURCES),
    outcome: z.enum(CHECK_OUTCOMES),
    code: z.string().optional().describe("The source's own word, such as MS_MAX_CONCURRENT_REQ."),
    attempts: z.int().min(0).optional().describe('How often the source was asked.'),
    backpressure: z
      .literal(true)
      .optional()
      .describe('The call waited longer than usual for a slot of its member state.'),
    started_at: instant(),
    duration_ms: z.int().min(0),
    detail: z.string().optional().describe('For a person to read.'),
  })
  .meta({ id: 'CheckEntry', description: 'What became of one source.' });

const match = z.enum(['valid', 'invalid', 'not_processed']).nullable();

/** VIES's approximate match of the trader. */
export const traderMatchSchema = z
  .strictObject({ name: match, street: match, postal_code: match, city: match, company_type: match })
  .meta({ id: 'TraderMatch', description: "VIES's word on each part of the trader that was sent." });

/** The check object. Source: contract part 2 §4. */
export const checkSchema = z
  .strictObject({
    id: idOf('chk'),
    object: z.literal('check'),
    test: z.literal(true).optional(),
    request_id: idOf('req'),
    vat_number: z.string(),
    country_code: z.enum(MEMBER_STATES),
    input: z.string().describe('The text as it came.'),
    valid: z.boolean(),
    verdict: z.enum(VERDICTS),
    name: z.string().nullable(),
    address: z.string().nullable(),
    requester_vat_number: z.string().nullable(),
    consultation_number: z.string().nullable().describe("VIES's proof of the enquiry; only with a requester."),
    trader_match: traderMatchSchema.nullable(),
    reference: z.string().nullable(),
    checks: z.array(checkEntrySchema),
    checked_at: instant(),
    salt: z.string().regex(/^[0-9a-f]{32}$/),
    hash_profile: z.literal(HASH_PROFILE),
    response_hash: z
      .string()
      .regex(/^sha256:[0-9a-f]{64}$/)
      .describe('SHA-256 of the RFC 8785 form of this object without response_hash, timestamp and anchor.'),
    timestamp: timestampFactsSchema.nullable().describe('Null until it was asked for and is there.'),
    anchor: anchorPlaceSchema.nullable().describe('Null until the check is in an anchor.'),
  })
  .meta({ id: 'Check', description: 'The record of an outcome.' });
