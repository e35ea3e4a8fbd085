import type { CheckRequest, DeliveryAttempt, Exchange, LoggedAttempt, performLookup, recordCheck } from '@vat/domain';
import type { SpanAttributes, Tracing } from '@vat/runtime';

/** A call that has ended. `url` is recorded without its path and query, which may contain a VAT number or a customer's secret. */
type EndedCall = {
  name: string;
  method: string;
  url: string;
  status: number | null;
  startedAt: Date;
  durationMs: number;
  attributes: SpanAttributes;
  error?: string | undefined;
};

/** Records a call that has ended as a client span of the job that made it. */
const traceCall = (tracing: Tracing, parent: string | undefined, call: EndedCall): void => {
  const { name, method, status, startedAt, durationMs, attributes, error } = call;
  const url = URL.canParse(call.url) ? new URL(call.url) : null;
  const span = tracing.start({
    name,
    kind: 'client',
    parent,
    startedAt,
    attributes: {
      ...attributes,
      'http.request.method': method,
      'http.response.status_code': status ?? undefined,
      'server.address': url?.hostname,
      'server.port': url === null ? undefined : Number(url.port || (url.protocol === 'https:' ? 443 : 80)),
    },
  });
  const refusal = status !== null && status >= 400 ? String(status) : undefined;
  span.end({ endedAt: new Date(startedAt.getTime() + durationMs), error: error ?? refusal });
};

const callOf = ({ source, request: { method, url }, response, startedAt, durationMs, error }: Exchange): EndedCall => ({
  ...{ name: `${method} ${source}`, method, url, status: response?.status ?? null, startedAt, durationMs },
  attributes: { 'vat.source': source },
  error: error === null ? undefined : response === null ? 'no_response' : 'incomplete_response',
});

type LookUp = Parameters<typeof performLookup>[0]['lookUp'];

/** Lookups that are recorded in traces, with member state and outcome. Nothing is sent for a request of the sandbox. */
export const traceLookups =
  (tracing: Tracing, lookUp: LookUp): LookUp =>
  async (request: CheckRequest, slot, startedAt, ref) => {
    const lookup = await lookUp(request, slot, startedAt, ref);
    if (lookup === null || request.test) return lookup;
    const { outcome, exchange } = lookup;
    const call = callOf(exchange);
    // Not the upstream's code: that is any word of its answer.
    const unanswered = outcome.kind === 'no_answer' ? outcome.outcome : undefined;
    traceCall(tracing, ref.traceparent, {
      ...call,
      attributes: {
        ...call.attributes,
        'vat.member_state': request.memberState,
        'vat.lookup.outcome': unanswered ?? outcome.kind,
        'vat.lookup.attempt': request.attempts + 1,
      },
      error: unanswered ?? call.error,
    });
    return lookup;
  };

type RecordCheck = ReturnType<typeof recordCheck>;

/** Records the calls of registers in traces, once they are recorded with their check. */
export const traceRegisters =
  (tracing: Tracing, record: RecordCheck): RecordCheck =>
  (check) => {
    for (const exchange of check.exchanges) traceCall(tracing, check.ref.traceparent, callOf(exchange));
    return record(check);
  };

/** Records an attempt of a delivery. `outcome`: what it means for the delivery. */
export const traceAttempt = (
  tracing: Tracing,
  { traceparent, number }: DeliveryAttempt,
  { url, statusCode, error, at, durationMs }: LoggedAttempt,
  outcome: string,
): void =>
  traceCall(tracing, traceparent, {
    ...{ name: 'POST webhook', method: 'POST', url, status: statusCode, startedAt: at, durationMs },
    attributes: { 'vat.delivery.attempt': number, 'vat.delivery.outcome': outcome },
    error: error === null ? undefined : error.replace(/:.*/s, ''),
  });
