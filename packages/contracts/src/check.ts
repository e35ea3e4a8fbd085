import {
  CHECK_OUTCOMES,
  CHECK_SOURCES,
  type CheckEvidence,
  COMPANY_TYPE,
  EVIDENCE_GRADES,
  HASH_PROFILE,
  MATCH_LETTERS,
  type MATCHED_PARTS,
  MEMBER_STATES,
  publicCheck,
  publicId,
  type ScoredPart,
  type StoredCheck,
  stripUnsafeCharacters,
  type TRADER_FIELDS,
  VERDICTS,
} from '@vat/domain';
import { z } from 'zod';
import { anchorPositionSchema, presentStampFacts, timestampFactsSchema } from './evidence.js';
import { idOf, instant, numberFields, printable, requesterText } from './text.js';

const TRADER_MAX = 200;

/** Body of POST /v1/checks. Unknown fields are refused. */
export const checkRequestBody = z.strictObject({
  ...numberFields,
  requester_vat_number: requesterText().describe(
    'Your own VAT number. VIES then issues a consultation number as proof of the lookup.',
  ),
  reference: printable(64).optional().describe('Your own reference for this check, 1 to 64 printable characters.'),
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
          'The legal form in the codes of VIES: a member state, a hyphen, and a number from 1 to 99, such as ES-1.',
        ),
    })
    .optional()
    .describe('What you know about the trader. VIES compares it approximately where the member state supports that.'),
});

const stated = (text: string) => z.string().optional().describe(text);
const letter = z.enum(MATCH_LETTERS);

/** What a register states. */
const sourceFactsSchema = z
  .strictObject({
    name: stated('The name in the register.'),
    address: stated('The address in the register, on one line.'),
    legal_form: stated("The legal form, or the register's code for it."),
    status: stated('The status of the registration in the words of the source, such as `Czynny` or `AKTIVNI`.'),
    registered_since: stated('The start of the registration, as the source writes it.'),
    registered_until: stated('The end of the registration. Absent while the registration is in force.'),
    register_id: stated('The identifier in that register.'),
    vat_numbers: z.array(z.string()).optional().describe("The company's active VAT numbers, according to the source."),
    receipt: stated("The source's proof of the lookup."),
    matches: z
      .strictObject({ name: letter, street: letter, postal_code: letter, city: letter } satisfies Record<
        (typeof MATCHED_PARTS)[number],
        typeof letter
      >)
      .optional()
      .describe(
        'The comparison of the trader by eVatR: `A` matches, `B` differs, `C` was not requested, `D` is not provided by the member state.',
      ),
  })
  .meta({ id: 'SourceFacts', description: 'What a register states. A fact that the source does not state is absent.' });

/** One entry of `checks`. */
export const checkEntrySchema = z
  .strictObject({
    source: z.enum(CHECK_SOURCES),
    outcome: z.enum(CHECK_OUTCOMES),
    code: z.string().optional().describe('The code that the source returned, such as MS_MAX_CONCURRENT_REQ.'),
    attempts: z.int().min(0).optional().describe('The number of lookups.'),
    backpressure: z
      .literal(true)
      .optional()
      .describe('The call waited longer than usual for a slot of its member state.'),
    started_at: instant(),
    duration_ms: z.int().min(0),
    detail: z.string().optional().describe('An explanation for people.'),
    facts: sourceFactsSchema.optional(),
    contradicts: z.literal(true).optional().describe('The source contradicts the verdict. This never changes `valid`.'),
  })
  .meta({ id: 'CheckEntry', description: 'What one source contributed to the check.' });

const match = z.enum(['valid', 'invalid', 'not_processed']).nullable();

/** The approximate comparison of the trader by VIES. */
const traderMatchSchema = z
  .strictObject({ name: match, street: match, postal_code: match, city: match, company_type: match })
  .meta({
    id: 'TraderMatch',
    description: 'The result of the comparison by VIES for each field of the trader that you sent.',
  });

const given = z.string().optional();

/** What the caller sent about the trader. */
const traderSchema = z
  .strictObject({ name: given, street: given, postal_code: given, city: given, company_type: given } satisfies Record<
    (typeof TRADER_FIELDS)[number],
    typeof given
  >)
  .meta({ id: 'Trader', description: 'What you sent about the trader.' });

const score = z.int().min(0).max(100);

/** Our score of one detail of the trader. */
const partScoreSchema = z
  .strictObject({
    score,
    expected: z.string().describe('The detail as you sent it.'),
    found: z.string().describe('The text of the sources that agrees best, in the spelling of its source.'),
    source: z.enum(CHECK_SOURCES).describe('The source of `found`.'),
  })
  .meta({ id: 'PartScore', description: 'How far one detail of the trader agrees with what the sources state.' });
const part = partScoreSchema.nullable();

/** Our comparison of the trader with all sources. */
const matchSchema = z
  .strictObject({
    score: score.nullable().describe('The whole score, at most that of the name. Null when nothing could be compared.'),
    ...({ name: part, street: part, postal_code: part, city: part } satisfies Record<ScoredPart, typeof part>),
  })
  .meta({
    id: 'Match',
    description:
      'Our comparison of the trader that you sent with what VIES and the registers state, from 0 to 100. A detail is null when you did not send it or no source states it. It never changes `valid`.',
  });

/** Fields that were added to the hashed check together: a check has both or neither. */
const matchAndGrade = {
  match: matchSchema.nullable().optional().describe('Null without `trader`.'),
  evidence_grade: z
    .enum(EVIDENCE_GRADES)
    .optional()
    .describe(
      'How strong the check is as evidence: `none` (not valid), `basic` (VIES says valid), `named` (a source states name and address), `corroborated` (a national register lists the trader as registered for VAT), `qualified` (VIES or eVatR issued a proof of the lookup, and every detail of `trader` agrees).',
    ),
};

/** The check object. */
export const checkSchema = z
  .strictObject({
    id: idOf('check'),
    object: z.literal('check'),
    test: z.literal(true).optional(),
    request_id: idOf('request'),
    vat_number: z.string(),
    country_code: z.enum(MEMBER_STATES),
    input: z.string().describe('The VAT number as you sent it.'),
    valid: z.boolean(),
    verdict: z.enum(VERDICTS),
    name: z.string().nullable(),
    address: z.string().nullable(),
    requester_vat_number: z.string().nullable(),
    consultation_number: z.string().nullable().describe("VIES's proof of the lookup. Only with a requester."),
    trader_match: traderMatchSchema.nullable(),
    trader: traderSchema.nullable().optional().describe('What you sent about the trader, or null.'),
    ...matchAndGrade,
    reference: z.string().nullable(),
    checks: z.array(checkEntrySchema),
    checked_at: instant(),
    salt: z.string().regex(/^[0-9a-f]{32}$/),
    hash_profile: z.literal(HASH_PROFILE),
    response_hash: z
      .string()
      .regex(/^sha256:[0-9a-f]{64}$/)
      .describe('SHA-256 of the RFC 8785 form of this object without response_hash, timestamp and anchor.'),
    timestamp: timestampFactsSchema.nullable().describe('Null until a requested time-stamp is available.'),
    anchor: anchorPositionSchema.nullable().describe('Null until the check is in an anchor.'),
  })
  .refine(
    ({ trader, match, evidence_grade }) =>
      (match === undefined) === (evidence_grade === undefined) && (match === undefined || trader !== undefined),
    'match and evidence_grade are present together, with trader',
  )
  .meta({
    id: 'Check',
    description:
      'The recorded outcome for one VAT number. It never changes: `trader`, `match` and `evidence_grade` are absent from checks that were recorded before the fields existed, and present in every other.',
    dependentRequired: { match: ['trader', 'evidence_grade'], evidence_grade: ['trader', 'match'] },
  });

/** The public link of a check. */
export const checkLinkSchema = z
  .strictObject({
    url: z
      .url()
      .describe('Shows and verifies the check without an account. Anyone who has it can read the whole check.'),
  })
  .meta({ id: 'CheckLink', description: 'The public link of a check.' });

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
