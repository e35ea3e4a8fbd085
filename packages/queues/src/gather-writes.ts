import type { Writable } from 'node:stream';

/**
 * Lets what is written in one turn of the event loop leave in one system call. Thirty jobs that end with the same statement
 * send thirty commands at once: one write and, on Redis's side, one read instead of thirty each. Nothing waits for it: the
 * turn is over before anything else could be sent.
 */
export const gatherWrites = (stream: Writable): void => {
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  let gathering = false;
  const flush = (): void => {
    gathering = false;
    stream.uncork();
  };
  stream.write = (...args: unknown[]): boolean => {
    if (!gathering) {
      gathering = true;
      stream.cork();
      process.nextTick(flush);
    }
    return write(...args);
  };
};
