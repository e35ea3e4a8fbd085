import { errorTypeOf, type SpanAttributes, type Tracing } from '@vat/runtime';
import type { Producer } from './create-producer.js';
import { type Payload, QUEUES, type QueueDefinition, type QueueName } from './job-catalogue.js';
import type { JobHandler, JobHandlers } from './start-consumer.js';

/** The name of a queue without the hash tag of its keys. */
const plainName = ({ name }: Pick<QueueDefinition, 'name'>): string => name.replace(/[{}]/g, '');

/** As OpenTelemetry's conventions for messaging name them. */
const attributesOf = (operation: 'send' | 'process', queue: string, jobId: string): SpanAttributes => ({
  'messaging.system': 'bullmq',
  'messaging.operation.name': operation,
  'messaging.operation.type': operation,
  'messaging.destination.name': queue,
  'messaging.message.id': jobId,
});

/** A producer that records the adding of each job which continues a span. Jobs that are added in bulk belong to no call. */
export const traceSends = (tracing: Tracing, producer: Producer): Producer => {
  const prepare: Producer['prepare'] = (job) => {
    const { definition, payload } = job;
    const parent = definition.trace?.of(payload);
    if (definition.trace === undefined || parent === undefined) return producer.prepare(job);
    const queue = plainName(definition);
    const attributes = attributesOf('send', queue, definition.jobId(payload));
    const span = tracing.start({ name: `send ${queue}`, kind: 'producer', parent, attributes });
    const prepared = producer.prepare({ ...job, payload: definition.trace.replace(payload, span.traceparent) });
    return {
      enqueue: async () => {
        try {
          await prepared.enqueue();
          span.end();
        } catch (error) {
          span.end({ error: errorTypeOf(error) });
          throw error;
        }
      },
      drop: prepared.drop,
    };
  };
  return { ...producer, prepare, enqueue: (job) => prepare(job).enqueue() };
};

/** A handler that records each run of a job, in the trace that the job continues or in a new one. */
export const traceRuns = <P>(
  tracing: Tracing,
  definition: QueueDefinition<P>,
  handle: JobHandler<P>,
): JobHandler<P> => {
  const { trace } = definition;
  if (trace === undefined) return handle;
  const queue = plainName(definition);
  return async (payload, context) => {
    const attributes = { ...attributesOf('process', queue, context.jobId), 'vat.job.run': context.runs };
    const span = tracing.start({ name: `process ${queue}`, kind: 'consumer', parent: trace.of(payload), attributes });
    try {
      const result = await handle(trace.replace(payload, span.traceparent), context);
      if (result === undefined) span.end();
      // A job that returns to its place in the queue has done nothing, so its span is not ended and not exported.
      else if ('again' in result) span.end({ attributes: { 'vat.job.again_at': result.again.toISOString() } });
      return result;
    } catch (error) {
      span.end({ error: errorTypeOf(error) });
      throw error;
    }
  };
};

/** Handlers that record the runs of the jobs of those queues whose jobs are recorded in traces. */
export const traceHandlers = (tracing: Tracing, handlers: JobHandlers): JobHandlers => {
  const definitions: { [Name in QueueName]: QueueDefinition<Payload<Name>> } = QUEUES;
  const trace = <Name extends QueueName>(name: Name): JobHandler<Payload<Name>> | null => {
    const handle: JobHandler<Payload<Name>> | null = handlers[name];
    return handle === null ? null : traceRuns(tracing, definitions[name], handle);
  };
  return Object.fromEntries(
    (Object.keys(definitions) as QueueName[]).map((name) => [name, trace(name)]),
  ) as JobHandlers;
};
