import { pid } from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { ExportResultCode, parseTraceParent } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { SpanToStart, Tracing } from './tracing.js';

/** Spans that wait for their export. When it is full, further ones are dropped. */
const QUEUE = { maxQueueSize: 4_096, maxExportBatchSize: 512, scheduledDelayMillis: 1_000 };
/** The deadline of one export with its retries. The processor's own is later: the exporter states what went wrong. */
const EXPORT_TIMEOUT_MS = 5_000;
const PROCESSOR_TIMEOUT_MS = 2 * EXPORT_TIMEOUT_MS;
/** How long a stopping process exports what it has. */
const FLUSH_MS = 1_500;

const KINDS: Record<SpanToStart['kind'], SpanKind> = {
  server: SpanKind.SERVER,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  client: SpanKind.CLIENT,
};

/** The address for traces below the base address, as the OTLP specification forms it. */
export const tracesUrl = (endpoint: string): string => {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/traces`;
  return url.href;
};

const contextOf = (traceparent: string | undefined) => {
  const parent = traceparent === undefined ? null : parseTraceParent(traceparent);
  return parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true });
};

type OtlpTracingOptions = { endpoint: string; service: string; onExportFailure: (error: unknown) => void };

/** Records spans and exports them as OTLP over HTTP, in JSON. Only {@link openTracing} loads this module. */
export const openOtlpTracing = ({ endpoint, service, onExportFailure }: OtlpTracingOptions): Tracing => {
  const exporter = new OTLPTraceExporter({ url: tracesUrl(endpoint), timeoutMillis: EXPORT_TIMEOUT_MS });
  // The SDK reports failures to handlers that belong to the whole process; this one is ours.
  const reporting: SpanExporter = {
    export: (spans, done) =>
      exporter.export(spans, ({ code, error }) => {
        if (code !== ExportResultCode.SUCCESS) onExportFailure(error ?? new Error('the receiver refused the spans'));
        done({ code: ExportResultCode.SUCCESS });
      }),
    shutdown: () => exporter.shutdown(),
  };
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': service, 'process.pid': pid }),
    spanProcessors: [new BatchSpanProcessor(reporting, { ...QUEUE, exportTimeoutMillis: PROCESSOR_TIMEOUT_MS })],
  });
  const tracer = provider.getTracer('vat');
  return {
    start: ({ name, kind, parent, attributes = {}, startedAt }) => {
      const span = tracer.startSpan(
        name,
        { kind: KINDS[kind], attributes, ...(startedAt && { startTime: startedAt }) },
        contextOf(parent),
      );
      const { traceId, spanId, traceFlags } = span.spanContext();
      return {
        traceparent: `00-${traceId}-${spanId}-0${traceFlags}`,
        end: ({ name: finalName, attributes: more = {}, error, endedAt } = {}) => {
          if (finalName !== undefined) span.updateName(finalName);
          span.setAttributes(more);
          if (error !== undefined) span.setAttribute('error.type', error).setStatus({ code: SpanStatusCode.ERROR });
          span.end(endedAt);
        },
      };
    },
    close: async () => {
      await Promise.race([provider.shutdown(), pause(FLUSH_MS, undefined, { ref: false })]);
    },
  };
};
