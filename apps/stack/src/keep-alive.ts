import { setTimeout as wait } from 'node:timers/promises';
import type { StopServerOptions } from '@vat/embedded';
import type { Running } from './running.js';

/** Pauses before a restart: `firstMs`, doubling up to `mostMs`, and back to `firstMs` once a process lived `stableMs`. */
export type Backoff = { firstMs: number; mostMs: number; stableMs: number };

type KeepAlive = {
  name: string;
  first: Running;
  /** Starts it again; may reject, and is then tried again after the next pause. */
  restart: () => Promise<Running>;
  /** Called whenever the pid has changed. */
  changed: () => void;
  say: (line: string) => void;
  backoff?: Backoff;
};

/** A process that is started again whenever it dies, until `stop`. */
export type Kept = { pid: () => number; stop: (options?: StopServerOptions) => Promise<void> };

const BACKOFF: Backoff = { firstMs: 200, mostMs: 5_000, stableMs: 30_000 };

/**
 * Watches a running process and starts it again when it has ended, never giving up. Only the end of the process counts: one
 * that is slow, or held by SIGSTOP, lives, and starting another beside it would make two.
 */
export const keepAlive = ({ name, first, restart, changed, say, backoff = BACKOFF }: KeepAlive): Kept => {
  const stopping = new AbortController();
  let running = first;

  const revive = async (): Promise<void> => {
    let failures = 0;
    while (!stopping.signal.aborted) {
      const born = Date.now();
      let reason = `ended (${await running.exited})`;
      if (Date.now() - born >= backoff.stableMs) failures = 0;
      for (let revived = false; !revived && !stopping.signal.aborted; ) {
        const pause = Math.min(backoff.firstMs * 2 ** failures, backoff.mostMs);
        failures += 1;
        say(`${name} ${reason}; starting it again in ${pause} ms`);
        await wait(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
        if (stopping.signal.aborted) return;
        try {
          running = await restart();
          revived = true;
          if (!stopping.signal.aborted) changed();
        } catch (error) {
          reason = `did not start (${(error as Error).message})`;
        }
      }
    }
  };
  const reviving = revive();

  return {
    pid: () => running.pid,
    stop: async (options) => {
      stopping.abort();
      // A restart under way is stopped by the second call, when the loop has come to its end.
      await running.stop(options);
      await reviving;
      await running.stop(options);
    },
  };
};
