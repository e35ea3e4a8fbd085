import { AppError, type PlannedFile } from '@vat/domain';
import { Tinypool } from 'tinypool';
import { keyedSemaphore } from '../turns.js';
import type { BatchReading, FileToRead, readBatch } from './read-batch.js';

type BatchReaderDeps = {
  /** The module that exports {@link readBatch}. */
  thread: URL;
  /** How many files are read concurrently. */
  threads: number;
  /** Milliseconds that reading a file may take once it has begun. */
  deadlineMs: number;
  /** Heap of a thread in MiB. */
  heapMb: number;
  /** Called when a thread fails while it is idle. */
  onFailure: (error: unknown) => void;
};

/** Reads and plans files outside the main thread. Rejects with the file's AppError. */
export type BatchReader = { read: (file: FileToRead) => Promise<PlannedFile>; close: () => Promise<void> };

/** An idle thread, which needs about 20 MB, ends after this many milliseconds. */
const IDLE_MS = 60_000;
/** A thread's heap for short-lived objects, in addition to `heapMb`. */
const YOUNG_HEAP_MB = 32;

const NAME: keyof { readBatch: typeof readBatch } = 'readBatch';

/** The error of a file that no thread could finish. Which line causes that is not known. */
const unreadable = (what: string): AppError =>
  new AppError('INVALID_CSV', {
    message: `${what} Remove what is not needed from it, or split it.`,
    extra: { line: 1 },
  });

const isOutOfMemory = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY';

/**
 * Creates a pool of threads that read files. Threads start on demand. A thread that exceeds the deadline or runs out of memory
 * is terminated; only its file fails, and the next file gets a new thread.
 */
export const createBatchReader = ({ thread, threads, deadlineMs, heapMb, onFailure }: BatchReaderDeps): BatchReader => {
  const pool = new Tinypool({
    filename: thread.href,
    name: NAME,
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_HEAP_MB },
  });
  pool.on('error', onFailure);
  // The pool's own queue is not used: it can lose waiting files when a thread is terminated, and their deadline would begin
  // before the work does.
  const inTurn = keyedSemaphore(threads);

  const read = async (file: FileToRead): Promise<PlannedFile> => {
    const deadline = AbortSignal.timeout(deadlineMs);
    const reading = await (pool.run(file, { signal: deadline }) as Promise<BatchReading>).catch((error: unknown) => {
      if (deadline.aborted) throw unreadable('The file takes too long to read.');
      if (isOutOfMemory(error)) throw unreadable('The file takes too much memory to read.');
      throw error;
    });
    if (reading.kind === 'refused')
      throw new AppError(reading.code, { message: reading.message, extra: reading.extra });
    return reading.file;
  };
  return {
    read: (file) => inTurn('files', () => read(file)),
    close: () => pool.destroy(),
  };
};
