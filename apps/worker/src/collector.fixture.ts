import type { RequestListener } from 'node:http';
import { openHttpServer } from '@vat/testkit';

type Value = { stringValue?: string; intValue?: number };
type Attribute = { key: string; value: Value };
type OtlpSpan = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attribute[];
  status: { code: number };
};
type OtlpBody = {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: OtlpSpan[] }[] }[];
};

/** `kind`, `status.code`: the numbers of OTLP (2 server, 3 client, 4 producer, 5 consumer; 2 failed). */
export type ReceivedSpan = Omit<OtlpSpan, 'attributes'> & {
  service: unknown;
  attributes: Record<string, string | number | undefined>;
};

const plain = (attributes: Attribute[]): ReceivedSpan['attributes'] =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]));

const spansOf = (text: string): ReceivedSpan[] =>
  (JSON.parse(text) as OtlpBody).resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map((span) => ({
        ...span,
        service: plain(resource.attributes)['service.name'],
        attributes: plain(span.attributes),
      })),
  );

/** Parents before their children, siblings by the time of their beginning; it is stated in milliseconds, so names decide then. */
const inOrder = (spans: readonly ReceivedSpan[]): ReceivedSpan[] => {
  const parentOf = (span: ReceivedSpan) => spans.find(({ spanId }) => spanId === span.parentSpanId);
  const depthOf = (span: ReceivedSpan): number => {
    const parent = parentOf(span);
    return parent === undefined ? 0 : 1 + depthOf(parent);
  };
  const keyOf = (span: ReceivedSpan) => `${depthOf(span)} ${span.startTimeUnixNano} ${span.name}`;
  return [...spans].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
};

/** A server that receives traces over OTLP/HTTP in JSON. */
export const openCollector = async () => {
  const bodies: string[] = [];
  const paths = new Set<string>();
  const receive: RequestListener = async (request, response) => {
    paths.add(`${request.method} ${request.url}`);
    bodies.push(Buffer.concat(await request.toArray()).toString('utf8'));
    response.setHeader('content-type', 'application/json').end('{}');
  };
  let answer = receive;
  const { url, close } = await openHttpServer((request, response) => answer(request, response));
  return {
    ...{ url, close, paths },
    /** What was received, as it was sent. */
    text: () => bodies.join('\n'),
    spansOf: (traceId: string) => inOrder(bodies.flatMap(spansOf).filter((span) => span.traceId === traceId)),
    /** Answers nothing from now on. */
    hang: () => {
      answer = () => undefined;
    },
  };
};

export type Collector = Awaited<ReturnType<typeof openCollector>>;
