import { type LookupSlot, type MemberState, SLOTS_PER_MEMBER_STATE } from '@vat/domain';
import { MEMBER_STATE_NUMBERS } from './member-state-numbers.js';
import { openSlotSession, type SlotSession } from './open-slot-session.js';

export type MemberStateSlots = {
  /**
   * Acquires one of the two slots of a member state; `null` when both are taken. Throws while Postgres is unavailable, and if
   * the connection leads to a pooler.
   */
  take: (memberState: MemberState) => Promise<LookupSlot | null>;
  close: () => Promise<void>;
};

type SlotOptions = {
  /** A direct connection to Postgres. */
  url: string;
  /** The time limit of one lookup, in milliseconds: a process that stands still keeps its slots for eight seconds longer. */
  lookupMs: number;
  /** Called when the connection breaks, and when this process gives it up. */
  onError: (error: Error) => void;
};

const slotOf = (session: SlotSession, slot: number): LookupSlot => {
  let released = false;
  return {
    lost: session.lost,
    isHeld: session.isAlive,
    release: () => {
      if (released) return;
      released = true;
      // Commands are sent in order, so from here on this process may request the slot again.
      session.held.delete(slot);
      if (!session.lost.aborted) session.send({ slot, take: false }).catch(() => undefined);
    },
  };
};

/**
 * Guarantees at most two lookups at a time per member state over all workers, whatever happens to Redis. BullMQ's global
 * concurrency does the scheduling, but its limit and its locks are stored in Redis: after a flush, or for a worker whose
 * event loop was blocked, a job can run twice. A slot is a session-level advisory lock of Postgres on one connection per
 * process: it is released as soon as its process dies, it survives a blocked event loop, and it needs no row. Postgres ends the
 * session of a process that stands still, after the time that its lookups may take.
 */
export const memberStateSlots = ({ url, lookupMs, onError }: SlotOptions): MemberStateSlots => {
  let current: Promise<SlotSession> | null = null;

  const open = (): Promise<SlotSession> => {
    const opened = openSlotSession(url, lookupMs, (error) => {
      // A late event of an old session must not drop its successor and the slots that the successor holds.
      if (current === opened) current = null;
      if (error) onError(error);
    });
    current = opened;
    // One that cannot even be begun, as while the file of `sslrootcert` is missing, has no end. Without this it would be the last one.
    opened.catch(() => {
      if (current === opened) current = null;
    });
    return opened;
  };

  return {
    take: async (memberState) => {
      const session = await (current ?? open());
      const first = MEMBER_STATE_NUMBERS[memberState] * SLOTS_PER_MEMBER_STATE;
      // Advisory locks are re-entrant within a session, so a slot that this process holds must not be requested again.
      const slots = Array.from({ length: SLOTS_PER_MEMBER_STATE }, (_, n) => first + n);
      const kept = slots.find((slot) => !session.held.has(slot) && session.keep(slot));
      if (kept !== undefined) {
        session.held.add(kept);
        return slotOf(session, kept);
      }
      for (const slot of slots) {
        if (session.held.has(slot)) continue;
        session.held.add(slot);
        if (await session.send({ slot, take: true })) return slotOf(session, slot);
        session.held.delete(slot);
      }
      return null;
    },
    close: async () => {
      const closing = current;
      current = null;
      if (!closing) return;
      await closing.then((session) => session.close()).catch(() => undefined);
    },
  };
};
