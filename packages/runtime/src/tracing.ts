/** `undefined` leaves an attribute out. Never VAT numbers, names, addresses or secrets. */
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>;

export type SpanToStart = {
  name: string;
  kind: 'server' | 'producer' | 'consumer' | 'client';
  /** The `traceparent` (W3C Trace Context) of the parent. Without a well-formed one the span begins a trace. */
  parent?: string | undefined;
  attributes?: SpanAttributes;
  /** Now by default. */
  startedAt?: Date;
};

/** `error`: the kind of failure (`error.type`), of which there are few; it marks the span as failed. */
type SpanEnd = { name?: string; attributes?: SpanAttributes | undefined; error?: string | undefined; endedAt?: Date };

/** An open span. One that is never ended is not exported. */
export type Span = {
  /** The `traceparent` of this span, by which others name it as their parent. */
  traceparent: string;
  end: (end?: SpanEnd) => void;
};

/**
 * Records spans. Parents are passed explicitly, from function to function and in jobs: a context that Node propagates costs
 * a tenth of a worker.
 */
export type Tracing = {
  start: (span: SpanToStart) => Span;
  /** Exports what has ended, for a limited time. */
  close: () => Promise<void>;
};

/** The field of a log line that names the trace of a span. */
export const traceFields = (traceparent: string | undefined): { trace_id?: string } =>
  traceparent === undefined ? {} : { trace_id: traceparent.slice(3, 35) };

/** The kind of an error, for a span. */
export const errorTypeOf = (error: unknown): string => (error instanceof Error ? error.name : 'Error');
