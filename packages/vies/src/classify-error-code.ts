import type { AskNoAnswer, AskRejected } from '@vat/domain';
import { noAnswer } from './no-answer.js';

type KnownCode =
  | (Pick<AskNoAnswer, 'outcome' | 'scope'> & { as?: 'MS_MAX_CONCURRENT_REQ' | 'GLOBAL_MAX_CONCURRENT_REQ' })
  | { rejects: AskRejected['code'] };

// `as` folds the …_TIME variants: a saturated entry carries one of two codes (contract part 2 §4).
const KNOWN_CODES = new Map<string, KnownCode>([
  ['MS_MAX_CONCURRENT_REQ', { outcome: 'saturated', scope: 'member_state' }],
  ['MS_MAX_CONCURRENT_REQ_TIME', { outcome: 'saturated', scope: 'member_state', as: 'MS_MAX_CONCURRENT_REQ' }],
  ['GLOBAL_MAX_CONCURRENT_REQ', { outcome: 'saturated', scope: 'global' }],
  ['GLOBAL_MAX_CONCURRENT_REQ_TIME', { outcome: 'saturated', scope: 'global', as: 'GLOBAL_MAX_CONCURRENT_REQ' }],
  ['SERVER_BUSY', { outcome: 'unavailable', scope: null }],
  ['SERVICE_UNAVAILABLE', { outcome: 'unavailable', scope: null }],
  ['MS_UNAVAILABLE', { outcome: 'unavailable', scope: null }],
  ['TIMEOUT', { outcome: 'timeout', scope: null }],
  ['VAT_BLOCKED', { outcome: 'blocked', scope: null }],
  ['IP_BLOCKED', { outcome: 'blocked', scope: null }],
  ['INVALID_INPUT', { rejects: 'INVALID_INPUT' }],
  ['INVALID_REQUESTER_INFO', { rejects: 'INVALID_REQUESTER_INFO' }],
]);

/** True for a code of VIES's published list. Source: spikes README, VIES. */
export const isKnownErrorCode = (code: string): boolean => KNOWN_CODES.has(code);

type ErrorAnswer = {
  /** HTTP status the error came with. */
  status: number;
  /** The upstream's word, upper case, or null where it gave none that looks like a code. */
  code: string | null;
  /** True when the same answer also carried a boolean `valid`. */
  besideVerdict: boolean;
};

/**
 * What an error of the upstream means. A refusal ends a request, so it is believed only when nothing contradicts it:
 * neither a `valid` beside it nor a status that says the server itself was in trouble. Source: contract part 2 §4.
 */
export const classifyErrorCode = ({ status, code, besideVerdict }: ErrorAnswer): AskNoAnswer | AskRejected => {
  const detail = status === 200 ? null : `HTTP ${status}`;
  const known = code === null ? undefined : KNOWN_CODES.get(code);
  if (code === null || known === undefined)
    return noAnswer('unavailable', detail ?? 'an error without a known code', code);

  if ('rejects' in known) {
    const believed = !besideVerdict && (status === 200 || (status >= 400 && status < 500));
    if (believed) return { kind: 'rejected', code: known.rejects };
    return noAnswer('unavailable', detail ?? 'an error and a verdict in one answer', code);
  }

  // Saturation and blocks keep their meaning beside a verdict: they only pace the next ask, and part 1 §7 wants the code seen.
  if (besideVerdict && known.outcome === 'timeout') return noAnswer('unavailable', detail, code);
  return { kind: 'no_answer', outcome: known.outcome, code: known.as ?? code, scope: known.scope, detail };
};
