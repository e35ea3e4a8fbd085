import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AppError, PlannedFile } from '@vat/domain';
import { type BatchReader, createBatchReader } from './create-batch-reader.js';

/** A thread that runs the command in the file. */
const THREAD = `
  import { isMainThread, threadId } from 'node:worker_threads';
  const planned = (...lines) => ({ kind: 'planned', file: { header: [String(threadId)], plan: { lines } } });
  export const readBatch = async ({ charset }) => {
    if (isMainThread) throw new Error('not a thread');
    if (charset === 'endless') for (;;);
    if (charset === 'refused') return { kind: 'refused', code: 'INVALID_CSV', message: 'No.', extra: { line: 7 } };
    if (charset === 'broken') throw new Error('broken');
    if (charset === 'memory') for (const held = []; ; ) held.push(new Array(100_000).fill(held.length));
    if (charset === 'slow') await new Promise((resolve) => setTimeout(resolve, 50));
    return planned('[{"line":1},{"line":2}]', '[{"line":3}]');
  };`;

let folder: string;
let reader: BatchReader;
let failures: unknown[];
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'vat-reader-'));
  await writeFile(path.join(folder, 'thread.mjs'), THREAD);
});
afterAll(() => rm(folder, { recursive: true }));

const start = (deadlineMs: number) => {
  failures = [];
  reader = createBatchReader({
    thread: pathToFileURL(path.join(folder, 'thread.mjs')),
    threads: 2,
    deadlineMs,
    heapMb: 32,
    onFailure: (error) => failures.push(error),
  });
};
afterEach(async () => {
  await reader.close();
  expect(failures).toEqual([]);
});

const read = (charset: string | null = null): Promise<PlannedFile> =>
  reader.read({ bytes: Buffer.from('x'), charset, sheet: undefined, requester: undefined, createdAt: new Date() });
const refusalOf = (charset: string): Promise<AppError> =>
  read(charset).then(
    () => Promise.reject(),
    (error) => error,
  );
const linesOf = ({ plan }: PlannedFile) =>
  plan.lines.flatMap((text) => (JSON.parse(text) as { line: number }[]).map(({ line }) => line));

test('the plan of the thread arrives complete, and refusals with their code', async () => {
  start(30_000);
  expect(linesOf(await read())).toEqual([1, 2, 3]);
  expect(await refusalOf('refused')).toMatchObject({ code: 'INVALID_CSV', message: 'No.', extra: { line: 7 } });
  await expect(read('broken')).rejects.toThrow('broken');
  expect(linesOf(await read())).toEqual([1, 2, 3]);
});

test('files beyond the number of threads wait, and threads are reused', async () => {
  start(30_000);
  const files = await Promise.all(Array.from({ length: 6 }, () => read('slow')));
  expect(new Set(files.map(({ header }) => header?.[0])).size).toBeLessThanOrEqual(2);
});

test('a file that exceeds the deadline is refused, and concurrent and waiting files are read', async () => {
  start(2_000);
  const refusals = [refusalOf('endless'), refusalOf('endless'), refusalOf('endless')];
  const behind = [read(), read()];
  for (const refused of await Promise.all(refusals))
    expect(refused).toMatchObject({
      code: 'INVALID_CSV',
      message: expect.stringMatching(/too long/),
      extra: { line: 1 },
    });
  for (const file of await Promise.all(behind)) expect(linesOf(file)).toEqual([1, 2, 3]);
});

test('a file that needs too much memory is refused, and the next one is read', async () => {
  start(30_000);
  expect(await refusalOf('memory')).toMatchObject({ code: 'INVALID_CSV', message: expect.stringMatching(/memory/) });
  expect(linesOf(await read())).toEqual([1, 2, 3]);
});

test('closing terminates a working thread', async () => {
  start(30_000);
  await read();
  const reading = expect(read('endless')).rejects.toThrow();
  await reader.close();
  await reading;
});
