import type { AskNoAnswer } from '@vat/domain';

/** The upstream said nothing that can be used. `detail` is one sentence for a person. */
export const noAnswer = (
  outcome: 'unavailable' | 'timeout',
  detail: string | null,
  code: string | null = null,
): AskNoAnswer => ({ kind: 'no_answer', outcome, code, scope: null, detail });
