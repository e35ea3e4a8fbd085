import {
  enterGate,
  gateAfter,
  isDown,
  type LookupGate,
  type LookupOutcome,
  MEMBER_STATES,
  type MemberState,
} from '@vat/domain';
import { defineScript, type RedisConnection, withinCommandTimeout } from './connect-redis.js';
import { upstreamQueue } from './job-catalogue.js';

type LookupGatesOptions = {
  connection: RedisConnection;
  prefix: string;
  /** PROBE_DELAYS: the time between two lookups of a member state that is down, in milliseconds; the last one repeats. */
  probeDelaysMs: readonly number[];
  /** A clock that the processes share. */
  now: () => Date;
  /** Called in the process whose lookup changed whether a member state is down. */
  onChange: (memberState: MemberState, down: boolean) => void;
};

/**
 * Replaces the gate if it is still as it was read; '' stands for none. Returns the gate that is there otherwise. Without a gate
 * nothing pauses the queue either: both change at once, or a pause that is set after the answer that removed its gate would hold
 * up a member state that works. KEYS: the gate, and BullMQ's pause of the queue. ARGV: the gate as read, the new one, its time to
 * live, and for how long the queue is paused from now on, 0 for not at all.
 */
const REPLACE = `
local found = redis.call('GET', KEYS[1]) or ''
if found ~= ARGV[1] then return found end
if ARGV[2] == '' then redis.call('DEL', KEYS[1], KEYS[2])
elseif ARGV[2] ~= found then redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end
if tonumber(ARGV[4]) > 0 then redis.call('SET', KEYS[2], '${Number.MAX_SAFE_INTEGER}', 'PX', ARGV[4]) end
return false`;

/** Longer than any pause. A member state that is not looked up for so long is looked up as if it had been answered. */
const GATE_TTL_MS = 3_600_000;

const parse = (text: string | null): LookupGate | null => (text ? (JSON.parse(text) as LookupGate) : null);
const write = (gate: LookupGate | null): string => (gate === null ? '' : JSON.stringify(gate));

const keyOf = (prefix: string, memberState: MemberState, type: 'gate' | 'limiter'): string =>
  `${prefix}:${upstreamQueue(memberState).name}:${type}`;

/** The member states that are down, as the workers share it; null while Redis does not say. Never rejects. */
export const readDownStates =
  (connection: RedisConnection, prefix: string) => async (): Promise<ReadonlySet<MemberState> | null> => {
    if (connection.status !== 'ready') return null;
    // One command each: in a cluster the keys are on several servers.
    const reading = Promise.all(MEMBER_STATES.map((code) => connection.get(keyOf(prefix, code, 'gate'))));
    const gates = await withinCommandTimeout(reading).catch(() => null);
    return gates && new Set(MEMBER_STATES.filter((_code, at) => isDown(parse(gates[at] ?? null))));
  };

/**
 * The gates of the member states, shared by the fleet: the rule is the domain's, and a key beside those of the queue holds its
 * state. While Redis does not respond, and after its data was lost, every gate is open. Nothing here rejects.
 */
export const createLookupGates = ({ connection, prefix, probeDelaysMs, now, onChange }: LookupGatesOptions) => {
  const replace = defineScript<string | null>(connection, 'replaceGate', 2, REPLACE);
  /** Member states that had a gate when this process looked last. Only their answers need to be reported. */
  const gated = new Set<MemberState>();
  const note = (memberState: MemberState, gate: LookupGate | null): LookupGate | null => {
    if (gate === null) gated.delete(memberState);
    else gated.add(memberState);
    return gate;
  };
  const read = async (memberState: MemberState): Promise<LookupGate | null> =>
    note(memberState, parse(await connection.get(keyOf(prefix, memberState, 'gate'))));

  /** Applies a rule to the gate until no other process has changed it meanwhile. Pauses the queue for `waitMs`. */
  const change = async <T extends { gate: LookupGate | null; waitMs?: number }>(
    memberState: MemberState,
    known: LookupGate | null,
    rule: (gate: LookupGate | null) => T,
  ): Promise<T> => {
    const keys = [keyOf(prefix, memberState, 'gate'), keyOf(prefix, memberState, 'limiter')];
    for (let gate = known; ; ) {
      const next = rule(gate);
      const [read, written, pauseMs] = [write(gate), write(next.gate), next.waitMs ?? 0];
      const found =
        written === read && pauseMs === 0 ? null : await replace(...keys, read, written, GATE_TTL_MS, pauseMs);
      if (found === null) {
        note(memberState, next.gate);
        if (isDown(gate) !== isDown(next.gate)) onChange(memberState, isDown(next.gate));
        return next;
      }
      gate = parse(found);
    }
  };

  return {
    /** The gate of a member state; null when there is none. */
    read: async (memberState: MemberState): Promise<LookupGate | null> =>
      connection.status === 'ready' ? read(memberState).catch(() => null) : null,
    /** Milliseconds until a lookup may be made, for which the queue is paused; 0 when it is to be made now. `gate`: as read. */
    enter: async (memberState: MemberState, gate: LookupGate | null): Promise<number> => {
      if (gate === null) return 0;
      const entering = change(memberState, gate, (found) => enterGate(found, probeDelaysMs, now().getTime()));
      return withinCommandTimeout(entering).then(
        ({ waitMs }) => waitMs,
        () => 0,
      );
    },
    /** Records how a lookup ended, before its job ends. */
    report: async (memberState: MemberState, outcome: LookupOutcome): Promise<void> => {
      const rule = (gate: LookupGate | null) => ({ gate: gateAfter(gate, outcome, probeDelaysMs, now().getTime()) });
      if (!gated.has(memberState) && rule(null).gate === null) return;
      const reporting = async () => change(memberState, await read(memberState), rule);
      await withinCommandTimeout(reporting()).catch(() => undefined);
    },
  };
};
