import { MEMBER_STATES, type MemberState, SLOTS_PER_MEMBER_STATE } from '@vat/domain';
import pg from 'pg';

/** The first of the two numbers of a slot's advisory lock; the second is the slot itself. */
const SLOT_LOCKS = 0x5107;

/**
 * A slot that was released rests this long in its process before it goes back to the fleet: under load the next ask of
 * the same member state is there by then, and is spared the round trip.
 */
const RESTS_MS = 20;

/** A slot that is held. `lost` aborts when the connection that holds it breaks: the ask must end at once. */
export type Slot = { lost: AbortSignal; release: () => void };

export type MemberStateSlots = {
  /** Takes one of the member state's two slots, over the whole fleet; `null` when both are taken. Throws while Postgres is away. */
  take: (memberState: MemberState) => Promise<Slot | null>;
  close: () => Promise<void>;
};

/**
 * Keeps "two at a time a member state" true over the fleet, whatever happens to Redis. BullMQ's global concurrency does
 * the scheduling, but its cap and its locks live in Redis: after a flush, or for a worker whose event loop stood still,
 * a job can run twice. A slot is a session-level advisory lock of Postgres on one connection a process: it is gone the
 * moment its process dies, it outlives a blocked event loop as long as the ask does, and it costs no row.
 */
export const memberStateSlots = (url: string, onError: (error: Error) => void): MemberStateSlots => {
  let connection: Promise<Connection> | null = null;
  let current: pg.Client | null = null;

  const connect = async (): Promise<Connection> => {
    const client = new pg.Client({
      connectionString: url,
      application_name: 'vat-slots',
      connectionTimeoutMillis: 2_000,
      query_timeout: 5_000,
      keepAlive: true,
      // A worker that vanishes with its machine must not keep its slots for the two hours of TCP's defaults.
      options:
        '-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=3 -c tcp_keepalives_count=3 -c idle_session_timeout=0',
    });
    current = client;
    const broken = new AbortController();
    const drop = (error?: Error) => {
      if (broken.signal.aborted) return;
      broken.abort(error ?? new Error('the slot connection ended'));
      // A late word of an old connection must not make its successor forgotten, with the slots that one holds.
      if (current === client) {
        current = null;
        connection = null;
      }
      if (error) onError(error);
    };
    client.on('error', drop);
    client.on('end', () => drop());
    try {
      await client.connect();
    } catch (error) {
      drop();
      client.end().catch(() => undefined);
      throw error;
    }
    return { client, held: new Set(), resting: new Map(), lost: broken.signal, say: converse(client, drop) };
  };

  const give = (open: Connection, slot: number): Slot => {
    let released = false;
    return {
      lost: open.lost,
      release: () => {
        if (released) return;
        released = true;
        // Whoever asks next in this process has it without a round trip.
        const timer = setTimeout(() => {
          open.resting.delete(slot);
          // Words go out in order, so from here on this process may ask for the slot again.
          open.held.delete(slot);
          if (!open.lost.aborted) open.say({ slot, take: false }).catch(() => undefined);
        }, RESTS_MS);
        open.resting.set(slot, timer);
      },
    };
  };

  return {
    take: async (memberState) => {
      connection ??= connect();
      const open = await connection;
      const first = MEMBER_STATES.indexOf(memberState) * SLOTS_PER_MEMBER_STATE;
      const slots = Array.from({ length: SLOTS_PER_MEMBER_STATE }, (_, n) => first + n);
      const resting = slots.find((slot) => open.resting.has(slot));
      if (resting !== undefined) {
        clearTimeout(open.resting.get(resting));
        open.resting.delete(resting);
        return give(open, resting);
      }
      for (const slot of slots) {
        // Advisory locks are re-entrant within a session, so a slot this process holds must not be asked for again.
        if (open.held.has(slot)) continue;
        open.held.add(slot);
        if (await open.say({ slot, take: true })) return give(open, slot);
        open.held.delete(slot);
      }
      return null;
    },
    close: async () => {
      const closing = connection;
      connection = null;
      if (!closing) return;
      await closing
        .then(({ client, resting }) => {
          for (const timer of resting.values()) clearTimeout(timer);
          return client.end();
        })
        .catch(() => undefined);
    },
  };
};

type Word = { slot: number; take: boolean };

type Connection = {
  client: pg.Client;
  /** Slots this session holds, the resting ones included. */
  held: Set<number>;
  /** Slots that were released a moment ago, with the timers that give them back. */
  resting: Map<number, NodeJS.Timeout>;
  lost: AbortSignal;
  /** Takes or gives back one slot, in the order of the calls; whether it was free. A failure drops the connection. */
  say: (word: Word) => Promise<boolean>;
};

const TAKE_AND_GIVE_BACK = `
  SELECT CASE WHEN take THEN pg_try_advisory_lock($1, slot) ELSE pg_advisory_unlock($1, slot) END AS done
  FROM unnest($2::int[], $3::bool[]) AS word(slot, take)`;

/**
 * Says over one connection what all member states have to say: while one statement is under way the next words coalesce,
 * so that under load one round trip serves many of them, and none waits for more than one before it.
 */
const converse = (client: pg.Client, drop: (error: Error) => void): Connection['say'] => {
  type Open = Word & { resolve: (done: boolean) => void; reject: (error: Error) => void };
  let gathered: Open[] = [];
  let speaking = false;

  const speak = async () => {
    speaking = true;
    while (gathered.length > 0) {
      const words = gathered;
      gathered = [];
      try {
        const { rows } = await client.query<{ done: boolean }>({
          name: 'vat_slots',
          text: TAKE_AND_GIVE_BACK,
          values: [SLOT_LOCKS, words.map(({ slot }) => slot), words.map(({ take }) => take)],
        });
        for (const [n, word] of words.entries()) word.resolve(rows[n]?.done === true);
      } catch (error) {
        // Whether a lock was granted is unknown: only the end of the session makes it free for certain.
        const reason = error instanceof Error ? error : new Error(String(error));
        drop(reason);
        client.end().catch(() => undefined);
        for (const word of words) word.reject(reason);
      }
    }
    speaking = false;
  };

  return (word) =>
    new Promise((resolve, reject) => {
      gathered.push({ ...word, resolve, reject });
      if (!speaking) void speak();
    });
};
