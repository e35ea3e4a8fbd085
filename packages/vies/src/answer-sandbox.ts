import type { LookupOutcome, LookupVerdict, MemberState, SplitVatNumber, Trader, TraderMatch } from '@vat/domain';
import { carriesTrader, TRADER_FIELDS } from '@vat/domain';
import { classifyErrorCode, noAnswer } from './error-codes.js';

/** The error codes of VIES's published test service, by national number. There, 100 is valid and 200 invalid. */
export const SANDBOX_ERROR_CODES: ReadonlyMap<string, string> = new Map([
  ['201', 'INVALID_INPUT'],
  ['202', 'INVALID_REQUESTER_INFO'],
  ['300', 'SERVICE_UNAVAILABLE'],
  ['301', 'MS_UNAVAILABLE'],
  ['302', 'TIMEOUT'],
  ['400', 'VAT_BLOCKED'],
  ['401', 'IP_BLOCKED'],
  ['500', 'GLOBAL_MAX_CONCURRENT_REQ'],
  ['501', 'GLOBAL_MAX_CONCURRENT_REQ_TIME'],
  ['600', 'MS_MAX_CONCURRENT_REQ'],
  ['601', 'MS_MAX_CONCURRENT_REQ_TIME'],
]);

/** Numbers that only this service defines: saturated during the direct call, then this verdict in the background. */
const LATE_ANSWERS = new Map([
  ['700', true],
  ['701', false],
]);

/** Numbers that only this service defines, to try evidence grades: VIES compares no details of the trader for them. */
const GRADED_NUMBERS = ['101', '102', '103'];
/** VIES states neither name nor address of it, as for some member states. */
const NAMELESS_NUMBER = '101';

type SandboxContext = {
  /** True once the API has answered the request with 202. */
  background: boolean;
  requester?: SplitVatNumber | null;
  trader?: Trader | null;
};

const matchAll = (trader: Trader, national: string): TraderMatch => {
  const match: TraderMatch = { name: null, street: null, postal_code: null, city: null, company_type: null };
  const isCompared = !GRADED_NUMBERS.includes(national);
  for (const field of TRADER_FIELDS) match[field] = trader[field] && isCompared ? 'valid' : 'not_processed';
  return match;
};

/**
 * Answers a lookup of a test key without a network. Deterministic: the same input gives the same outcome. A refusal
 * (201, 202) is returned as no answer with its code, because test requests for these numbers are accepted and then
 * abandoned.
 */
export const answerSandbox = (national: string, context: SandboxContext, countryCode: MemberState): LookupOutcome => {
  const { background, requester = null, trader = null } = context;
  const verdict = (valid: boolean): LookupVerdict => ({
    kind: 'verdict',
    valid,
    name: valid && national !== NAMELESS_NUMBER ? `Sandbox Trader ${countryCode}${national}` : null,
    address: valid && national !== NAMELESS_NUMBER ? '1 Sandbox Street\n1000 Testville' : null,
    consultationNumber: requester ? `SANDBOX-${countryCode}${national}` : null,
    traderMatch: trader && carriesTrader({ trader }) ? matchAll(trader, national) : null,
  });

  const error = SANDBOX_ERROR_CODES.get(national);
  if (error !== undefined) {
    const outcome = classifyErrorCode({ status: 200, code: error, besideVerdict: false });
    return outcome.kind === 'rejected' ? noAnswer('unavailable', 'refused by the sandbox', outcome.code) : outcome;
  }

  const late = LATE_ANSWERS.get(national);
  if (late === undefined) return verdict(national !== '200');
  return background
    ? verdict(late)
    : classifyErrorCode({ status: 200, code: 'MS_MAX_CONCURRENT_REQ', besideVerdict: false });
};
