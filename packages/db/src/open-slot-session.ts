import pg from 'pg';
import { prepareConnection } from './prepare-connection.js';

/** The first of the two numbers of a slot's advisory lock; the second is the slot itself. */
const SLOT_LOCKS = 0x5107;

/** How often a process makes sure that Postgres still answers. */
const HEARTBEAT_MS = 2_000;
const STATEMENT_TIMEOUT_MS = 5_000;
/** A process whose last answered statement was sent longer ago than this gives its slots up and starts no lookup with them. */
const GIVE_UP_AFTER_MS = HEARTBEAT_MS + STATEMENT_TIMEOUT_MS;
/** How much longer Postgres waits, so that a process that runs has ended its lookups before others get the slots. */
const MARGIN_MS = 1_000;

/**
 * Postgres ends a session that was silent for this long, and with it its slots: the process, its machine or the network between
 * them stands still. A lookup that the process began just before it would have given its slots up has then ended by its own
 * time limit, `lookupMs`, so the upstream no longer works on it when others get the slots.
 */
const silenceMs = (lookupMs: number): number => GIVE_UP_AFTER_MS + lookupMs + MARGIN_MS;

const sessionOf = (lookupMs: number): Record<string, string> => {
  const ms = silenceMs(lookupMs);
  return {
    idle_session_timeout: String(ms),
    // What the server sets for all connections could end the session of a machine that stands still too early.
    tcp_keepalives_idle: String(Math.ceil(ms / 1_000)),
    tcp_user_timeout: String(2 * ms),
  };
};

/** Acquires or releases one slot. */
type Command = { slot: number; take: boolean };

export type SlotSession = {
  held: Set<number>;
  lost: AbortSignal;
  /** Acquires or releases one slot, in the order of the calls; false when it was not free. A failure ends the session. */
  send: (command: Command) => Promise<boolean>;
  /** Takes the release of a slot back that was not sent yet: the process has the slot still. False when there is none. */
  keep: (slot: number) => boolean;
  /** False when the session is lost, or silent for so long that it may be; it is ended then. */
  isAlive: () => boolean;
  close: () => Promise<void>;
};

/**
 * How long the release of a slot waits for the next acquisition, which takes it back or shares its statement. A worker with a backlog
 * takes its next job in less, and BullMQ gives a job to another worker only when this one takes none.
 */
const RELEASE_WITHIN_MS = 10;

/** Milliseconds since its call, by the clock that has moved more: the one stands still while a machine sleeps. */
const startStopwatch = (): (() => number) => {
  const [monotonic, wall] = [performance.now(), Date.now()];
  return () => Math.max(performance.now() - monotonic, Date.now() - wall);
};

const ACQUIRE_AND_RELEASE = `
  SELECT CASE WHEN take THEN pg_try_advisory_lock($1, slot) ELSE pg_advisory_unlock($1, slot) END AS done
  FROM unnest($2::int[], $3::bool[]) AS word(slot, take)`;

/**
 * Opens the connection that holds a process's slots. `lookupMs`: the time limit of a lookup. `onEnd` is called once when the
 * session ends, with an error unless it was closed. Throws while Postgres is unavailable, and if the connection leads to a
 * pooler.
 */
export const openSlotSession = async (
  url: string,
  lookupMs: number,
  onEnd: (error?: Error) => void,
): Promise<SlotSession> => {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'vat-slots',
    connectionTimeoutMillis: 2_000,
    query_timeout: STATEMENT_TIMEOUT_MS,
    keepAlive: true,
  });
  const ended = new AbortController();
  let heartbeat: NodeJS.Timeout | undefined;
  const end = (error?: Error) => {
    if (ended.signal.aborted) return;
    ended.abort(error ?? new Error('the slot connection ended'));
    clearInterval(heartbeat);
    onEnd(error);
  };
  client.on('error', end);
  client.on('end', () => end());
  const fail = (error: Error) => {
    end(error);
    client.end().catch(() => undefined);
  };
  try {
    await client.connect();
    if (!(await prepareConnection(client, sessionOf(lookupMs))))
      throw new Error('the connection for slots leads to a connection pooler');
  } catch (error) {
    const reason = error instanceof Error ? error : new Error(String(error));
    fail(reason);
    throw reason;
  }

  let sinceConfirmed = startStopwatch();
  const isAlive = () => {
    if (!ended.signal.aborted && sinceConfirmed() > GIVE_UP_AFTER_MS)
      fail(new Error('this process was suspended, and its slots may be in use by others'));
    return !ended.signal.aborted;
  };

  const acquireAndRelease = async (commands: readonly Command[]): Promise<boolean[]> => {
    // Postgres receives the statement later than this.
    const sent = startStopwatch();
    const { rows } = await client.query<{ done: boolean }>({
      name: 'vat_slots',
      text: ACQUIRE_AND_RELEASE,
      values: [SLOT_LOCKS, commands.map(({ slot }) => slot), commands.map(({ take }) => take)],
    });
    sinceConfirmed = sent;
    return commands.map((_, n) => rows[n]?.done === true);
  };
  const { beat, ...commands } = sendCommands(acquireAndRelease, fail);
  if (!ended.signal.aborted) heartbeat = setInterval(() => isAlive() && beat(), HEARTBEAT_MS);
  return { held: new Set(), lost: ended.signal, ...commands, isAlive, close: () => client.end() };
};

/**
 * Sends the commands of all member states over one connection. While one statement is running the next commands are queued
 * for the following one, so that under load one round trip serves many commands, and no acquisition waits for more than one
 * statement. A release waits for the next acquisition, and is not sent when that is of the same member state: with a backlog there is
 * one a moment later.
 */
const sendCommands = (
  run: (commands: readonly Command[]) => Promise<boolean[]>,
  fail: (error: Error) => void,
): Pick<SlotSession, 'send' | 'keep'> & { beat: () => void } => {
  type Queued = Command & { resolve: (done: boolean) => void; reject: (error: Error) => void };
  let queued: Queued[] = [];
  let sending = false;
  let releasing: NodeJS.Timeout | undefined;

  const flush = async () => {
    sending = true;
    do {
      clearTimeout(releasing);
      releasing = undefined;
      const commands = queued;
      queued = [];
      try {
        const done = await run(commands);
        for (const [n, command] of commands.entries()) command.resolve(done[n] === true);
      } catch (error) {
        // It is unknown whether a lock was granted; only the end of the session releases it for certain.
        const reason = error instanceof Error ? error : new Error(String(error));
        fail(reason);
        for (const command of commands) command.reject(reason);
      }
    } while (queued.some(({ take }) => take));
    sending = false;
    if (queued.length > 0) flushSoon();
  };
  const beat = () => {
    if (!sending) void flush();
  };
  const flushSoon = () => {
    releasing ??= setTimeout(() => {
      releasing = undefined;
      if (queued.length > 0) beat();
    }, RELEASE_WITHIN_MS);
  };

  return {
    send: (command) =>
      new Promise((resolve, reject) => {
        queued.push({ ...command, resolve, reject });
        if (command.take) beat();
        else flushSoon();
      }),
    keep: (slot) => {
      const release = queued.find((command) => command.slot === slot && !command.take);
      queued = queued.filter((command) => command !== release);
      release?.resolve(false);
      return release !== undefined;
    },
    // Without commands the statement only shows whether Postgres answers; one that is running shows it as well.
    beat,
  };
};
