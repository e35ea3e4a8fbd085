/**
 * Postgres ends the transaction that holds a lock, and another process may have the lock, when it received nothing from this one
 * for `endMs`: the process stands still, or its machine or network is gone. Milliseconds. Less than the minute within which the
 * sweep enqueues everything after a loss of Redis, which may have been on the same machine.
 */
export const SILENCE = { endMs: 30_000, heartbeatMs: 5_000 };

/**
 * The statement of a heartbeat. Postgres keeps the snapshot of a transaction's last query until its next statement; this one needs
 * none.
 */
export const heartbeatOf = ({ endMs }: { endMs: number }): string =>
  `SET LOCAL idle_in_transaction_session_timeout = ${endMs}`;

/** Sends `heartbeat` at intervals, one at a time. Call the result to stop; it resolves when the last one has ended. */
export const sendHeartbeats = (heartbeat: () => Promise<unknown>, everyMs: number): (() => Promise<void>) => {
  let open: Promise<void> | null = null;
  const timer = setInterval(() => {
    // A transaction that has ended fails at its end.
    open ??= heartbeat()
      .catch(() => undefined)
      .then(() => {
        open = null;
      });
  }, everyMs);
  return async () => {
    clearInterval(timer);
    await open;
  };
};
