import type { SpanToStart, Tracing } from '@vat/runtime';
import type { PreparedJob, Producer } from './create-producer.js';
import { batchesQueue, type RequestJob, settleQueue } from './job-catalogue.js';
import type { JobHandler } from './start-consumer.js';
import { traceRuns, traceSends } from './trace-jobs.js';

const REQUEST = { request_id: '0190a0a0-0000-7000-8000-000000000001' };
const PARENT = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
const OWN = `00-${'a'.repeat(32)}-${'c'.repeat(16)}-01`;

/** Traces whose spans are listed as they begin and end. */
const recorder = () => {
  const started: SpanToStart[] = [];
  const ended: unknown[] = [];
  const tracing: Tracing = {
    start: (span) => {
      started.push(span);
      return { traceparent: OWN, end: (end) => void ended.push(end ?? {}) };
    },
    close: () => Promise.resolve(),
  };
  return { tracing, started, ended };
};

const run = async (handle: JobHandler<RequestJob>, job: RequestJob = { ...REQUEST, traceparent: PARENT }) => {
  const recorded = recorder();
  const result = await traceRuns(
    recorded.tracing,
    settleQueue,
    handle,
  )(job, { jobId: 'job', runs: 2, stopping: new AbortController().signal }).catch((error: Error) => error.message);
  return { ...recorded, result };
};

test('a run continues the span of its job, and its handler gets the span of the run', async () => {
  let seen: RequestJob | undefined;
  const { started, ended } = await run(async (job) => {
    seen = job;
    return undefined;
  });
  expect(started).toMatchObject([{ name: 'process settle', kind: 'consumer', parent: PARENT }]);
  expect(seen).toEqual({ ...REQUEST, traceparent: OWN });
  expect(ended).toEqual([{}]);
});

test('a job without a span begins a trace', async () => {
  const { started } = await run(async () => undefined, REQUEST);
  expect(started).toMatchObject([{ name: 'process settle', parent: undefined }]);
});

test('a run that fails ends its span with the kind of the error, and fails', async () => {
  const failing = async () => {
    throw new TypeError('about a VAT number');
  };
  const { ended, result } = await run(failing);
  expect(ended).toEqual([{ error: 'TypeError' }]);
  expect(result).toBe('about a VAT number');
});

test('a job that returns to its place in the queue leaves no span', async () => {
  const { ended, result } = await run(async () => ({ pauseQueueMs: 100 }));
  expect(ended).toEqual([]);
  expect(result).toEqual({ pauseQueueMs: 100 });
});

/** A producer that lists the payloads of jobs, and fails on demand. */
const listing = (fails: boolean) => {
  const payloads: unknown[] = [];
  const prepare = ({ payload }: { payload: unknown }): PreparedJob => ({
    enqueue: async () => {
      if (fails) throw new RangeError('away');
      payloads.push(payload);
    },
    drop: () => undefined,
  });
  const producer = { prepare } as unknown as Producer;
  return { producer, payloads };
};

test('a job that continues a span is added with the span of its adding; others are added as they are', async () => {
  const { tracing, started, ended } = recorder();
  const { producer, payloads } = listing(false);
  const traced = traceSends(tracing, producer);
  await traced.enqueue({ definition: settleQueue, payload: { ...REQUEST, traceparent: PARENT } });
  await traced.enqueue({ definition: settleQueue, payload: REQUEST });
  await traced.enqueue({ definition: batchesQueue, payload: { lane: 'DE', at: 1 } });
  expect(payloads).toEqual([{ ...REQUEST, traceparent: OWN }, REQUEST, { lane: 'DE', at: 1 }]);
  expect(started).toMatchObject([{ name: 'send settle', kind: 'producer', parent: PARENT }]);
  expect(ended).toEqual([{}]);
});

test('a job that is dropped leaves no span, and one that is not added leaves the kind of the error', async () => {
  const { tracing, ended } = recorder();
  const traced = traceSends(tracing, listing(true).producer);
  const job = { definition: settleQueue, payload: { ...REQUEST, traceparent: PARENT } };
  traced.prepare(job).drop();
  await expect(traced.enqueue(job)).rejects.toThrow('away');
  expect(ended).toEqual([{ error: 'RangeError' }]);
});
