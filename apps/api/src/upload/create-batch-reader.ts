import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, type CoveragePlan, type PlannedFile, type PlannedSupply } from '@vat/domain';
import { isArchive } from '@vat/spreadsheet';
import { Tinypool } from 'tinypool';
import { keyedSemaphore } from '../turns.js';
import type { CoverageToRead, FileToRead, Refusal, readBatch, readCoverage } from './read-batch.js';

type BatchReaderDeps = {
  /** The module that exports {@link readBatch} and {@link readCoverage}. */
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
export type BatchReader = {
  read: (file: FileToRead) => Promise<PlannedFile>;
  readCoverage: (file: CoverageToRead) => Promise<PlannedCoverage>;
  close: () => Promise<void>;
};

/** A file of supplies that was read and planned. `width`: cells of the widest row. */
export type PlannedCoverage = { header: string[] | null; width: number; plan: CoveragePlan };

/** An idle thread, which needs about 20 MB, ends after this many milliseconds. */
const IDLE_MS = 60_000;
/** A thread's heap for short-lived objects, in addition to `heapMb`. */
const YOUNG_HEAP_MB = 32;

/** The functions of the thread. */
type Thread = { readBatch: typeof readBatch; readCoverage: typeof readCoverage };

/** The error of a file that no thread could finish. Which line causes that is not known. */
const unreadable = ({ bytes }: { bytes: Uint8Array }, what: string): AppError =>
  new AppError(isArchive(bytes) ? 'INVALID_FILE' : 'INVALID_CSV', {
    message: `${what} Remove what is not needed from it, or split it.`,
    extra: { line: 1 },
  });

const isOutOfMemory = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException | null)?.code === 'ERR_WORKER_OUT_OF_MEMORY';

/** Parses one chunk per turn of the event loop. */
const unpack = async <T>(chunks: readonly string[]): Promise<T[]> => {
  const rows: T[] = [];
  for (const chunk of chunks) {
    rows.push(...(JSON.parse(chunk) as T[]));
    await nextTurn();
  }
  return rows;
};

/**
 * Creates a pool of threads that read files. Threads start on demand. A thread that exceeds the deadline or runs out of memory
 * is terminated; only its file fails, and the next file gets a new thread.
 */
export const createBatchReader = ({ thread, threads, deadlineMs, heapMb, onFailure }: BatchReaderDeps): BatchReader => {
  const pool = new Tinypool({
    filename: thread.href,
    minThreads: 0,
    maxThreads: threads,
    idleTimeout: IDLE_MS,
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_HEAP_MB },
  });
  pool.on('error', onFailure);
  // The pool's own queue is not used: it can lose waiting files when a thread is terminated, and their deadline would begin
  // before the work does.
  const inTurn = keyedSemaphore(threads);

  const run = async <Name extends keyof Thread>(name: Name, file: Parameters<Thread[Name]>[0]) => {
    const deadline = AbortSignal.timeout(deadlineMs);
    const reading = await (pool.run(file, { name, signal: deadline }) as Promise<ReturnType<Thread[Name]>>).catch(
      (error: unknown) => {
        if (deadline.aborted) throw unreadable(file, 'The file takes too long to read.');
        if (isOutOfMemory(error)) throw unreadable(file, 'The file takes too much memory to read.');
        throw error;
      },
    );
    if (reading.kind === 'refused')
      throw new AppError(reading.code, { message: reading.message, extra: reading.extra });
    return reading as Exclude<ReturnType<Thread[Name]>, Refusal>;
  };
  const read = async (sent: FileToRead): Promise<PlannedFile> => (await run('readBatch', sent)).file;
  const readSupplies = async (sent: CoverageToRead): Promise<PlannedCoverage> => {
    const { file, lines, gaps } = await run('readCoverage', sent);
    return { ...file, plan: { lines: await unpack<PlannedSupply>(lines), gaps } };
  };
  return {
    read: (file) => inTurn('files', () => read(file)),
    readCoverage: (file) => inTurn('files', () => readSupplies(file)),
    close: () => pool.destroy(),
  };
};
