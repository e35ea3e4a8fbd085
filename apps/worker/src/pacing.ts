import type { AskNoAnswer, MemberState } from '@vat/domain';

/** After a saturated answer its member state (or every one, for GLOBAL_*) rests this long in this process. */
const REST_MS = 250;

/** Slows asks down after the upstream said it has too many. Per process: each of them hears it from the upstream itself. */
export type Pacing = {
  /** Milliseconds until this member state may be asked again; 0 when it may now. */
  holdMs: (memberState: MemberState) => number;
  noteNoAnswer: (memberState: MemberState, outcome: AskNoAnswer) => void;
};

export const createPacing = (now: () => Date): Pacing => {
  const restUntil = new Map<MemberState | 'every', number>();
  return {
    holdMs: (memberState) => {
      const until = Math.max(restUntil.get(memberState) ?? 0, restUntil.get('every') ?? 0);
      return Math.max(0, until - now().getTime());
    },
    noteNoAnswer: (memberState, outcome) => {
      if (outcome.outcome !== 'saturated') return;
      restUntil.set(outcome.scope === 'global' ? 'every' : memberState, now().getTime() + REST_MS);
    },
  };
};
