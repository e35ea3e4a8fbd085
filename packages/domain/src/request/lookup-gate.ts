import { type LookupOutcome, MAX_RETRY_AFTER_MS } from '../check/upstream.js';

/**
 * What the fleet knows about the lookups of a member state: how many in a row were not answered and how many were refused as
 * too many, and the time (milliseconds) before which none is made. There is no gate while the last lookup was answered.
 */
export type LookupGate = { unanswered: number; saturated: number; opensAt: number };

/** After so many unanswered lookups in a row a member state is down: it is probed instead of looked up. */
export const DOWN_AFTER = 5;

/** The pause after a lookup that was refused as one of too many, and after how many in a row it doubles, up to the longest. */
const SATURATED_PAUSE_MS = 250;
const SATURATED_STEP = 5;
const LONGEST_SATURATED_PAUSE_MS = 2_000;

/** A code about one number. Its sender could stop the lookups of all other customers. */
const NUMBER_BLOCKED = 'VAT_BLOCKED';

/** True while only probes are made. */
export const isDown = (gate: LookupGate | null): boolean => gate !== null && gate.unanswered >= DOWN_AFTER;

/** More than the clocks of two processes differ while they are corrected. */
const CLOCK_TOLERANCE_MS = 60_000;

/**
 * The gate without a time further ahead than any pause is long. It was written while the shared clock was ahead, and would stop all
 * lookups of the member state for as long as that clock was set back.
 */
const withoutWrongTime = (gate: LookupGate, probeDelaysMs: readonly number[], now: number): LookupGate => {
  const longest = Math.max(MAX_RETRY_AFTER_MS, ...probeDelaysMs) + CLOCK_TOLERANCE_MS;
  return gate.opensAt - now > longest ? { ...gate, opensAt: 0 } : gate;
};

const probeDelay = ({ unanswered }: LookupGate, delaysMs: readonly number[]): number =>
  delaysMs[Math.min(unanswered - DOWN_AFTER, delaysMs.length - 1)] ?? 0;

const saturatedPause = (saturated: number): number =>
  Math.min(LONGEST_SATURATED_PAUSE_MS, SATURATED_PAUSE_MS * 2 ** Math.floor((saturated - 1) / SATURATED_STEP));

/**
 * Whether a lookup may be made: `waitMs` until then, 0 when it may be made now, and the gate from then on. A probe closes the
 * gate when it begins, so that it is the only one, and so that a process that dies with it delays the next one and no more.
 */
export const enterGate = (
  read: LookupGate | null,
  probeDelaysMs: readonly number[],
  now: number,
): { waitMs: number; gate: LookupGate | null } => {
  if (read === null) return { waitMs: 0, gate: null };
  const gate = withoutWrongTime(read, probeDelaysMs, now);
  if (now < gate.opensAt) return { waitMs: gate.opensAt - now, gate };
  return { waitMs: 0, gate: isDown(gate) ? { ...gate, opensAt: now + probeDelay(gate, probeDelaysMs) } : gate };
};

/**
 * The gate after a lookup. An answer removes it, unless the upstream asks for a pause. A member state that refuses lookups as too
 * many works: it is not down, and lookups continue after a pause.
 */
export const gateAfter = (
  gate: LookupGate | null,
  outcome: LookupOutcome,
  probeDelaysMs: readonly number[],
  now: number,
): LookupGate | null => {
  const { retryAfter } = outcome;
  const heldUntil = retryAfter?.scope === 'member_state' ? now + retryAfter.ms : 0;
  if (outcome.kind !== 'no_answer') return heldUntil > 0 ? { unanswered: 0, saturated: 0, opensAt: heldUntil } : null;
  const before = withoutWrongTime(gate ?? { unanswered: 0, saturated: 0, opensAt: 0 }, probeDelaysMs, now);
  const until = (ms: number) => Math.max(before.opensAt, heldUntil, now + ms);
  if (outcome.outcome === 'saturated') {
    const saturated = before.saturated + 1;
    return { ...before, saturated, opensAt: until(saturatedPause(saturated)) };
  }
  if (outcome.code === NUMBER_BLOCKED) return heldUntil > 0 ? { ...before, opensAt: until(0) } : gate && before;
  const after = { ...before, unanswered: before.unanswered + 1 };
  return { ...after, opensAt: until(isDown(after) ? probeDelay(after, probeDelaysMs) : 0) };
};
