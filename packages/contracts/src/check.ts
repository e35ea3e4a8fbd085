import {
  CHECK_OUTCOMES,
  CHECK_SOURCES,
  type CheckEvidence,
  COMPANY_TYPE,
  HASH_PROFILE,
  MATCH_LETTERS,
  type MATCHED_PARTS,
  MEMBER_STATES,
  publicCheck,
  publicId,
  type StoredCheck,
  stripUnsafeCharacters,
  type TRADER_FIELDS,
  VERDICTS,
} from '@vat/domain';
import { z } from 'zod';
import { anchorPositionSchema, presentStampFacts, timestampFactsSchema } from './evidence.js';
import { idOf, instant, numberText, printable } from './text.js';

const TRADER_MAX = 200;

/** Body of POST /v1/checks. Source: contract part 2 §4. Unknown fields are refused. */
export const checkRequestBody = z.strictObject({
  vat_number: numberText().describe('The number as it was written, with or without its country prefix.'),
  country_code: z
    .string()
    .overwrite(stripUnsafeCharacters)
    .max(10, 'must be two letters, such as DE')
    .optional()
    .describe('Two letters, needed when the number has no prefix. GR and EL both mean Greece.'),
  // No length is judged here: whatever is no VAT number, an empty text too, is INVALID_REQUESTER and not BAD_REQUEST.
  requester_vat_number: z
    .string()
    .overwrite(stripUnsafeCharacters)
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
        .overwrite(stripUnsafeCharacters)
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

const stated = (text: string) => z.string().optional().describe(text);
const letter = z.enum(MATCH_LETTERS);

/** What a register states. Source: contract part 3 §2. */
export const sourceFactsSchema = z
  .strictObject({
    name: stated('The name in the register.'),
    address: stated('The address in the register, on one line.'),
    legal_form: stated("The legal form, or the register's code for it."),
    status: stated("The registration's status in the source's own words, such as `Czynny` or `AKTIVNI`."),
    registered_since: stated('When the registration began, as the source writes it.'),
    registered_until: stated('When the registration ended. Absent while it lasts.'),
    register_id: stated('The number in that register.'),
    vat_numbers: z.array(z.string()).optional().describe("The company's active VAT numbers, according to the source."),
    receipt: stated("The source's own proof of the enquiry."),
    matches: z
      .strictObject({ name: letter, street: letter, postal_code: letter, city: letter } satisfies Record<
        (typeof MATCHED_PARTS)[number],
        typeof letter
      >)
      .optional()
      .describe(
        'eVatR compares the trader: `A` agrees, `B` differs, `C` was not asked, `D` is not given by the state.',
      ),
  })
  .meta({ id: 'SourceFacts', description: 'What a register states. Only what the source states is there.' });

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
    facts: sourceFactsSchema.optional(),
    contradicts: z
      .literal(true)
      .optional()
      .describe('The source says the opposite of the verdict. It never changes `valid`.'),
  })
  .meta({ id: 'CheckEntry', description: 'What became of one source.' });

const match = z.enum(['valid', 'invalid', 'not_processed']).nullable();

/** VIES's approximate match of the trader. */
export const traderMatchSchema = z
  .strictObject({ name: match, street: match, postal_code: match, city: match, company_type: match })
  .meta({ id: 'TraderMatch', description: "VIES's word on each part of the trader that was sent." });

const given = z.string().optional();

/** What the caller gave about the trader. */
export const traderSchema = z
  .strictObject({ name: given, street: given, postal_code: given, city: given, company_type: given } satisfies Record<
    (typeof TRADER_FIELDS)[number],
    typeof given
  >)
  .meta({ id: 'Trader', description: 'What you believe about the trader, as you gave it.' });

/** The check object. Source: contract part 2 §4. */
export const checkSchema = z
  .strictObject({
    id: idOf('check'),
    object: z.literal('check'),
    test: z.literal(true).optional(),
    request_id: idOf('request'),
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
    trader: traderSchema
      .nullable()
      .optional()
      .describe('As it was given, or null. Absent from checks that were recorded before this field existed.'),
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
    anchor: anchorPositionSchema.nullable().describe('Null until the check is in an anchor.'),
  })
  .meta({ id: 'Check', description: 'The record of an outcome.' });

/** A check with its evidence so far, which is not part of what is hashed. */
export const presentCheck = (
  check: Pick<StoredCheck, 'bytes' | 'hash'>,
  evidence: CheckEvidence | undefined,
): z.input<typeof checkSchema> => ({
  ...publicCheck(check),
  timestamp: evidence?.stamp ? presentStampFacts(evidence.stamp) : null,
  anchor: evidence?.anchor
    ? {
        anchor_id: publicId('anchor', evidence.anchor.anchorId),
        seq: evidence.anchor.seq,
        leaf_index: evidence.anchor.leafIndex,
        tree_size: evidence.anchor.treeSize,
      }
    : null,
});
