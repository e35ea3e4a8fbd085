import { MEMBER_STATES, type MemberState, SLOTS_PER_MEMBER_STATE } from '@vat/domain';
import pg from 'pg';
import { prepareConnection } from './prepare-connection.js';

/** The first of the two numbers of a slot's advisory lock; the second is the slot itself. */
const SLOT_LOCKS = 0x5107;

/**
 * How often a process that holds slots makes sure that Postgres still answers. With the time limit of a statement it gives a
 * dead connection, and with it its slots, up after seven seconds: well before Postgres, which then grants them to others.
 */
const HEARTBEAT_MS = 2_000;
/** The slots of a worker whose machine fails must not stay locked for the two hours of TCP's defaults. */
const SESSION = {
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '3',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '14000',
  idle_session_timeout: '0',
};

/** An acquired slot. `lost` aborts when the connection that holds it breaks; the lookup must then end at once. */
export type Slot = { lost: AbortSignal; release: () => void };

export type MemberStateSlots = {
  /**
   * Acquires one of the two slots of a member state; `null` when both are taken. Throws while Postgres is unavailable, and if
   * the connection leads to a pooler.
   */
  take: (memberState: MemberState) => Promise<Slot | null>;
  close: () => Promise<void>;
};

/**
 * Guarantees at most two lookups at a time per member state over all workers, whatever happens to Redis. BullMQ's global
 * concurrency does the scheduling, but its limit and its locks are stored in Redis: after a flush, or for a worker whose
 * event loop was blocked, a job can run twice. A slot is a session-level advisory lock of Postgres on one connection per
 * process: it is released as soon as its process dies, it survives a blocked event loop, and it needs no row.
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
    });
    current = client;
    const broken = new AbortController();
    const drop = (error?: Error) => {
      if (broken.signal.aborted) return;
      broken.abort(error ?? new Error('the slot connection ended'));
      // A late event of an old connection must not drop its successor and the slots that the successor holds.
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
      if (!(await prepareConnection(client, SESSION)))
        throw new Error('the connection for slots leads to a connection pooler');
    } catch (error) {
      drop();
      client.end().catch(() => undefined);
      throw error;
    }
    const held = new Set<number>();
    const { send, beat } = sendCommands(client, drop);
    const heartbeat = setInterval(() => held.size > 0 && beat(), HEARTBEAT_MS);
    broken.signal.addEventListener('abort', () => clearInterval(heartbeat));
    return { client, held, lost: broken.signal, send };
  };

  const slotOf = (open: Connection, slot: number): Slot => {
    let released = false;
    return {
      lost: open.lost,
      release: () => {
        if (released) return;
        released = true;
        // Commands are sent in order, so from here on this process may request the slot again.
        open.held.delete(slot);
        if (!open.lost.aborted) open.send({ slot, take: false }).catch(() => undefined);
      },
    };
  };

  return {
    take: async (memberState) => {
      connection ??= connect();
      const open = await connection;
      const first = MEMBER_STATES.indexOf(memberState) * SLOTS_PER_MEMBER_STATE;
      const slots = Array.from({ length: SLOTS_PER_MEMBER_STATE }, (_, n) => first + n);
      for (const slot of slots) {
        // Advisory locks are re-entrant within a session, so a slot that this process holds must not be requested again.
        if (open.held.has(slot)) continue;
        open.held.add(slot);
        if (await open.send({ slot, take: true })) return slotOf(open, slot);
        open.held.delete(slot);
      }
      return null;
    },
    close: async () => {
      const closing = connection;
      connection = null;
      if (!closing) return;
      await closing.then(({ client }) => client.end()).catch(() => undefined);
    },
  };
};

/** Acquires or releases one slot. */
type Command = { slot: number; take: boolean };

type Connection = {
  client: pg.Client;
  /** Slots that this session holds. */
  held: Set<number>;
  lost: AbortSignal;
  /** Acquires or releases one slot, in the order of the calls; false when it was not free. A failure drops the connection. */
  send: (command: Command) => Promise<boolean>;
};

const ACQUIRE_AND_RELEASE = `
  SELECT CASE WHEN take THEN pg_try_advisory_lock($1, slot) ELSE pg_advisory_unlock($1, slot) END AS done
  FROM unnest($2::int[], $3::bool[]) AS word(slot, take)`;

/**
 * Sends the commands of all member states over one connection. While one statement is running the next commands are queued
 * for the following one, so that under load one round trip serves many commands, and none waits for more than one statement.
 */
const sendCommands = (
  client: pg.Client,
  drop: (error: Error) => void,
): Pick<Connection, 'send'> & { beat: () => void } => {
  type Queued = Command & { resolve: (done: boolean) => void; reject: (error: Error) => void };
  let queued: Queued[] = [];
  let sending = false;

  const flush = async () => {
    sending = true;
    do {
      const commands = queued;
      queued = [];
      try {
        const { rows } = await client.query<{ done: boolean }>({
          name: 'vat_slots',
          text: ACQUIRE_AND_RELEASE,
          values: [SLOT_LOCKS, commands.map(({ slot }) => slot), commands.map(({ take }) => take)],
        });
        for (const [n, command] of commands.entries()) command.resolve(rows[n]?.done === true);
      } catch (error) {
        // It is unknown whether a lock was granted; only the end of the session releases it for certain.
        const reason = error instanceof Error ? error : new Error(String(error));
        drop(reason);
        client.end().catch(() => undefined);
        for (const command of commands) command.reject(reason);
      }
    } while (queued.length > 0);
    sending = false;
  };

  return {
    send: (command) =>
      new Promise((resolve, reject) => {
        queued.push({ ...command, resolve, reject });
        if (!sending) void flush();
      }),
    // Without commands the statement only shows whether Postgres answers; one that is running shows it as well.
    beat: () => {
      if (!sending) void flush();
    },
  };
};
