import { publicId } from '../ids.js';
import type { Answer, CheckRequest } from '../request/request.js';
import type { CheckEntry, Verdict } from './entry.js';
import type { Trader, TraderMatch } from './upstream.js';

/** Names the way `response_hash` is made. Source: contract part 2 §4. */
export const HASH_PROFILE = 'jcs-sha256-v1';

/**
 * A check without the three fields that are not hashed (`response_hash`, `timestamp`, `anchor`). Its RFC 8785 form is
 * the evidence: numbers are integers, keys are `[a-z0-9_]`.
 */
export type CheckBody = {
  id: string;
  object: 'check';
  test?: true;
  request_id: string;
  vat_number: string;
  country_code: string;
  input: string;
  valid: boolean;
  verdict: Verdict;
  name: string | null;
  address: string | null;
  requester_vat_number: string | null;
  consultation_number: string | null;
  trader_match: TraderMatch | null;
  /** As it was given. Checks that were recorded before this field existed have no such key. */
  trader?: Trader | null;
  reference: string | null;
  checks: CheckEntry[];
  checked_at: string;
  salt: string;
  hash_profile: typeof HASH_PROFILE;
};

/** The check object as the API serves it. */
export type PublicCheck = CheckBody & {
  response_hash: string;
  timestamp: Record<string, unknown> | null;
  anchor: Record<string, unknown> | null;
};

type Source = Pick<
  CheckRequest,
  'id' | 'test' | 'vatNumber' | 'memberState' | 'input' | 'requester' | 'reference' | 'trader' | 'entries'
>;

/** Puts together what is hashed. `salt`: 32 hex digits, so that the hash says nothing about a number that can be guessed. */
export const checkBody = (checkId: string, request: Source, answer: Answer, salt: string): CheckBody => ({
  id: publicId('check', checkId),
  object: 'check',
  ...(request.test ? { test: true as const } : {}),
  request_id: publicId('request', request.id),
  vat_number: request.vatNumber,
  country_code: request.memberState,
  input: request.input,
  valid: answer.verdict === 'valid',
  verdict: answer.verdict,
  name: answer.name,
  address: answer.address,
  requester_vat_number: request.requester,
  consultation_number: answer.consultationNumber,
  trader_match: answer.traderMatch,
  trader: request.trader,
  reference: request.reference,
  checks: request.entries,
  checked_at: answer.answeredAt,
  salt,
  hash_profile: HASH_PROFILE,
});
