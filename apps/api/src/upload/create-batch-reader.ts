import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, type NewBatchRequest, type NewLine, type PlannedFile } from '@vat/domain';
import { Tinypool } from 'tinypool';
import { keyedSemaphore } from '../turns.js';
import type { BatchReading, FileToRead, readBatch } from './read-batch.js';

type BatchReaderDeps = {
  /** The module that exports {@link readBatch}. */
  thread: URL;
  /** Files read side by side. */
  threads: number;
  /** Milliseconds that a file may take once its turn has come. */
  deadlineMs: number;
  /** Heap of a thread in MiB. */
  heapMb: number;
  /** A thread failed while it had nothing to do. */
  onFailure: (error: unknown) => void;
};

/** Reads and plans files outside the thread that serves callers. Rejects with the file's AppError. */
export type BatchReader = { read: (file: FileToRead) => Promise<PlannedFile>; close: () => Promise<void> };

/** An idle thread holds some 20 MB. Milliseconds. */
const IDLE_MS = 60_000;
/** Of short-lived objects, part of every thread beside its heap. */
const YOUNG_HEAP_MB = 32;

const NAME: keyof { readBatch: typeof readBatch } = 'readBatch';

/** What is said of a file that no thread could finish; which line is to blame is not known. */
const unreadable = (what: string): AppError =>
  new AppError('INVALID_CSV', {
    message: `${what} Remove what is not needed from it, or split it.`,
    extra: { line: 1 },
  });

const isOutOfMemory = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY';

/** Unpacks a slice a turn. */
const unpack = async <T>(slices: readonly string[]): Promise<T[]> => {
  const rows: T[] = [];
  for (const slice of slices) {
    rows.push(...(JSON.parse(slice) as T[]));
    await nextTurn();
  }
  return rows;
};

/**
 * Threads that read files. They start when the first file comes; one that passes the deadline or runs out of memory is ended
 * with its file alone, and the next file gets a new one.
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
  // The pool's own queue is not used: without idle threads it forgets what waits there when a thread is ended, and the
  // deadline would begin before the work.
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
    const [lines, requests] = [await unpack<NewLine>(reading.lines), await unpack<NewBatchRequest>(reading.requests)];
    return { ...reading.file, plan: { lines, requests } };
  };
  return {
    read: (file) => inTurn('files', () => read(file)),
    close: () => pool.destroy(),
  };
};
