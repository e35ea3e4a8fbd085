import { type AskNoAnswer, type AskRejected, MISSING_FIELD_CODE } from '@vat/domain';
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
  // The number, the requester's member state and the requester's number against VIES's own patterns.
  ['VOW-ERR-2600', { rejects: 'INVALID_INPUT' }],
  ['VOW-ERR-2500', { rejects: 'INVALID_REQUESTER_INFO' }],
  ['VOW-ERR-2700', { rejects: 'INVALID_REQUESTER_INFO' }],
  [MISSING_FIELD_CODE, { outcome: 'unavailable', scope: null }],
]);
/** Codes of VIES's web layer. One that is not listed above is no answer; VOW-ERR-1 is a fault of the server. */
const WEB_LAYER_CODE = /^VOW-ERR-\d+$/;

export type CodeKind = 'no_answer' | 'rejects_requester' | 'rejects_input' | 'web_layer' | 'unknown';

/** What a code by itself says: no answer, a refusal of the requester or of some field, a fault of VIES's web layer, or nothing that is known. */
export const classifyCode = (code: string): CodeKind => {
  const known = KNOWN_CODES.get(code);
  if (known === undefined) return WEB_LAYER_CODE.test(code) ? 'web_layer' : 'unknown';
  if (!('rejects' in known)) return 'no_answer';
  return known.rejects === 'INVALID_INPUT' ? 'rejects_input' : 'rejects_requester';
};

/** The statuses under which VIES refuses a request: mostly 200, 400 for the codes of its web layer. */
const REFUSING_STATUSES: readonly number[] = [200, 400, 422];

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
 * neither a `valid` beside it nor a status that says that the request was not looked at (401, 403, 429) or that the
 * server itself was in trouble. Source: contract part 2 §4, part 3 §1.
 */
export const classifyErrorCode = ({ status, code, besideVerdict }: ErrorAnswer): AskNoAnswer | AskRejected => {
  const detail = status === 200 ? null : `HTTP ${status}`;
  const known = code === null ? undefined : KNOWN_CODES.get(code);
  if (code === null || known === undefined)
    return noAnswer('unavailable', detail ?? 'an error without a known code', code);

  if ('rejects' in known) {
    const believed = !besideVerdict && REFUSING_STATUSES.includes(status);
    if (believed) {
      const upstreamCode = code === known.rejects ? {} : { upstreamCode: code };
      return { kind: 'rejected', code: known.rejects, ...upstreamCode };
    }
    return noAnswer('unavailable', detail ?? 'an error and a verdict in one answer', code);
  }

  // Saturation and blocks keep their meaning beside a verdict: they only pace the next ask, and part 1 §7 wants the code seen.
  if (besideVerdict && known.outcome === 'timeout') return noAnswer('unavailable', detail, code);
  return { kind: 'no_answer', outcome: known.outcome, code: known.as ?? code, scope: known.scope, detail };
};
