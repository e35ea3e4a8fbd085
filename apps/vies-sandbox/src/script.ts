import type { MemberState } from '@vat/domain';
import { SANDBOX_ERROR_CODES } from '@vat/vies';
import type { Answer, LoadInput, NumberInput, StateInput } from './answer.js';
import type { WireLookup } from './wire.js';

type Load = { latency_ms: number; jitter_ms: number; saturate_over: number | null };

/** An answer and its delay. */
type Play = { answer: Answer; delayMs: number };

/** The configured behaviour of the sandbox. */
export type Script = {
  setDefaults: (load: LoadInput) => void;
  setState: (state: MemberState, input: StateInput) => void;
  setAnswer: (answer: Answer | null) => void;
  setNumber: (number: string, input: NumberInput) => void;
  reset: () => void;
  /**
   * Returns the answer for a lookup and consumes it from the script. `inFlight` counts the member state's lookups,
   * including this one.
   */
  play: (lookup: WireLookup, inFlight: number, testService: boolean) => Play;
};

type ScriptDeps = { latencyMs: number; random: () => number };

const SATURATED: Answer = { kind: 'error', code: 'MS_MAX_CONCURRENT_REQ' };

const answerTestNumber = (national: string): Answer | null => {
  if (national === '100') return { kind: 'valid' };
  if (national === '200') return { kind: 'invalid' };
  const code = SANDBOX_ERROR_CODES.get(national);
  return code === undefined ? null : { kind: 'error', code };
};

/**
 * Creates an empty script. The first match determines the answer: saturation (at once, without consuming an answer), the
 * number's script, the member state's answer, the answer for all, VIES's test numbers. Otherwise the answer is valid, or
 * SERVICE_UNAVAILABLE from the test service, as VIES's own answers for other numbers.
 */
export const createScript = ({ latencyMs, random }: ScriptDeps): Script => {
  const initial: Load = { latency_ms: latencyMs, jitter_ms: 0, saturate_over: null };
  let defaults = initial;
  let answerForAll: Answer | null = null;
  const states = new Map<MemberState, StateInput>();
  const numbers = new Map<string, NumberInput & { next: number }>();

  const playNumber = (number: string): Answer | null => {
    const scripted = numbers.get(number);
    if (!scripted) return null;
    const answer = scripted.answers[scripted.next];
    scripted.next += 1;
    return answer ?? (scripted.then === 'repeat' ? (scripted.answers.at(-1) ?? null) : null);
  };

  const play: Script['play'] = (lookup, inFlight, testService) => {
    const state = states.get(lookup.memberState) ?? {};
    const saturateOver = state.saturate_over ?? defaults.saturate_over;
    if (saturateOver !== null && inFlight > saturateOver) return { answer: SATURATED, delayMs: 0 };

    const answer =
      playNumber(lookup.memberState + lookup.national) ??
      state.answer ??
      answerForAll ??
      answerTestNumber(lookup.national) ??
      (testService ? { kind: 'error', code: 'SERVICE_UNAVAILABLE' } : { kind: 'valid' });
    const jitter = random() * (state.jitter_ms ?? defaults.jitter_ms);
    return { answer, delayMs: (answer.latency_ms ?? state.latency_ms ?? defaults.latency_ms) + jitter };
  };

  return {
    setDefaults: (load) => {
      defaults = {
        latency_ms: load.latency_ms === undefined ? defaults.latency_ms : (load.latency_ms ?? initial.latency_ms),
        jitter_ms: load.jitter_ms === undefined ? defaults.jitter_ms : (load.jitter_ms ?? initial.jitter_ms),
        saturate_over: load.saturate_over === undefined ? defaults.saturate_over : load.saturate_over,
      };
    },
    setState: (state, input) => states.set(state, { ...states.get(state), ...input }),
    setAnswer: (answer) => {
      answerForAll = answer;
    },
    setNumber: (number, input) => {
      if (input.answers.length === 0) numbers.delete(number);
      else numbers.set(number, { ...input, next: 0 });
    },
    reset: () => {
      defaults = initial;
      answerForAll = null;
      states.clear();
      numbers.clear();
    },
    play,
  };
};
