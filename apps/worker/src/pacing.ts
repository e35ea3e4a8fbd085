import type { AskNoAnswer, MemberState, RetryAfter } from '@vat/domain';

/** After a saturated answer its member state (or every one, for GLOBAL_*) rests this long in this process. */
const REST_MS = 250;
/** After IP_BLOCKED everything rests this long: it is said to the service, and asking a wall more often makes it higher. */
const BLOCKED_REST_MS = 3_000;

/** Slows asks down after the upstream said it has too many. Per process: each of them hears it from the upstream itself. */
export type Pacing = {
  /** Milliseconds until this member state may be asked again; 0 when it may now. */
  holdMs: (memberState: MemberState) => number;
  noteNoAnswer: (memberState: MemberState, outcome: AskNoAnswer) => void;
  /** The upstream said when to come back. What concerns one request alone is in its row, and delays no other. */
  noteRetryAfter: (memberState: MemberState, retryAfter: RetryAfter) => void;
};

export const createPacing = (now: () => Date): Pacing => {
  const restUntil = new Map<MemberState | 'every', number>();
  const rest = (who: MemberState | 'every', ms: number): void => {
    restUntil.set(who, Math.max(restUntil.get(who) ?? 0, now().getTime() + ms));
  };
  return {
    holdMs: (memberState) => {
      const until = Math.max(restUntil.get(memberState) ?? 0, restUntil.get('every') ?? 0);
      return Math.max(0, until - now().getTime());
    },
    noteNoAnswer: (memberState, { outcome, scope, code }) => {
      if (outcome === 'saturated') rest(scope === 'global' ? 'every' : memberState, REST_MS);
      // Not after VAT_BLOCKED: that is about a number somebody sends, who could hold up everybody else with it.
      if (outcome === 'blocked' && code === 'IP_BLOCKED') rest('every', BLOCKED_REST_MS);
    },
    noteRetryAfter: (memberState, { ms, scope }) => {
      if (scope !== 'request') rest(scope === 'global' ? 'every' : memberState, ms);
    },
  };
};
