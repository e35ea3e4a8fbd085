import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import { messageOf, statusOf, type WireLookup, wireError, wireVerdict } from './wire.js';

const milliseconds = z.number().int().min(0).max(600_000);
const status = z.number().int().min(200).max(599);
const common = {
  latency_ms: milliseconds.optional().describe('overrides the latency of the member state and the default'),
  retry_after: z
    .union([z.number().int().min(0), z.string().regex(/^[\x20-\x7e]*$/, 'not the value of a header')])
    .optional()
    .describe('the Retry-After header: seconds, or any text such as an HTTP date'),
};

/**
 * The recorded forms of VIES's errors: `wrappers` (its REST service since 2022), `message` (the same with an
 * explanation), `user_error` (beside a flag that is always false, as its pages use it), `error` (a gateway's object)
 * and `text` (code and explanation as plain text).
 */
const ERROR_FORMS = ['wrappers', 'message', 'user_error', 'error', 'text'] as const;

/** The kinds of answers without further fields. */
const plainKinds = z.enum([
  'invalid',
  'vow_error',
  'half_json',
  'missing_valid',
  'valid_as_string',
  'false_with_error',
  'false_under_500',
  'empty',
  'reset',
  'cut',
  'hang',
  'drip',
  'huge',
  'quirky',
]);

const answerObject = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('valid'),
    name: z.string().optional(),
    address: z.string().optional(),
    consultation: z.string().optional(),
    ...common,
  }),
  z.strictObject({
    kind: z.literal('error'),
    code: z.string(),
    status: status.optional().describe('500 for VOW-ERR-1, 400 for other VOW-ERR codes, else 200'),
    form: z.enum(ERROR_FORMS).optional(),
    message: z.string().optional().describe('overrides the explanation of VIES, in the forms that have one'),
    ...common,
  }),
  z.strictObject({ kind: z.literal('html'), status: status.optional(), ...common }),
  z.strictObject({
    kind: z.literal('status'),
    status,
    body: z.union([z.string(), z.looseObject({})]).optional(),
    ...common,
  }),
  z.strictObject({ kind: plainKinds, ...common }),
]);

/**
 * One scripted answer, e.g. `{"kind":"error","code":"MS_UNAVAILABLE"}`; a plain `"html"` means `{"kind":"html"}`.
 * Strict, so that a test with a misspelled script fails at once.
 */
export const answerSchema = z.preprocess(
  (value) => (typeof value === 'string' ? { kind: value } : value),
  answerObject,
);
export type Answer = z.output<typeof answerObject>;

/** Latency and saturation. An omitted field keeps its value; null restores the default. */
export const loadSchema = z.strictObject({
  latency_ms: milliseconds.nullable().optional(),
  jitter_ms: milliseconds.nullable().optional().describe('maximum of an additional latency, uniformly distributed'),
  saturate_over: z
    .number()
    .int()
    .min(0)
    .nullable()
    .optional()
    .describe('maximum lookups in flight for each member state; more are refused'),
});
export type LoadInput = z.output<typeof loadSchema>;

/** {@link loadSchema} of one member state, and the answer for all its numbers (an outage); null removes it. */
export const stateSchema = loadSchema.extend({ answer: answerSchema.nullable().optional() });
export type StateInput = z.output<typeof stateSchema>;

/**
 * The answers for one number, one for each lookup; afterwards the last one again (`repeat`) or the default behaviour
 * (`default`).
 */
export const numberSchema = z.strictObject({
  answers: z.array(answerSchema).max(10_000).describe('an empty list removes the script'),
  // biome-ignore lint/suspicious/noThenProperty: a field of the control interface, never a function
  then: z.enum(['repeat', 'default']).default('repeat'),
});
export type NumberInput = z.output<typeof numberSchema>;

/** A complete HTTP answer. */
type RenderedAnswer = { status: number; contentType: string; body: string; retryAfter?: string };

const HTML =
  '<!DOCTYPE html>\n<html><head><title>VIES</title></head><body><h1>The service is under maintenance</h1></body></html>\n';
const QUIRKY_NAME = 'Quirky\u0000 \u0007Tra\u009Fder\uD800 &\u007F \uDC00Sons\u001B';

const json = (body: Record<string, unknown>, status = 200): RenderedAnswer => ({
  status,
  contentType: 'application/json',
  body: JSON.stringify(body),
});

type Rendering = { lookup: WireLookup; now: Date; consultation: string };

const text = (status: number, body: string): RenderedAnswer => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  body,
});

const renderError = (answer: Extract<Answer, { kind: 'error' }>, { lookup, now }: Rendering): RenderedAnswer => {
  const { code, status = statusOf(code), form = 'wrappers', message = messageOf(code) } = answer;
  switch (form) {
    case 'wrappers':
      return json(wireError(code), status);
    case 'message':
      return json(wireError(code, message), status);
    case 'user_error':
      return json(
        { isValid: false, requestDate: now.toISOString(), userError: code, vatNumber: lookup.national },
        status,
      );
    case 'error':
      return json({ timestamp: now.toISOString(), status, error: code, message }, status);
    case 'text':
      return text(status, `${code}: ${message}`);
  }
};

/** The HTTP answer of each kind; `reset`, `cut`, `hang`, `drip` and `huge` have the body of a valid one. */
export const renderAnswer = (answer: Answer, rendering: Rendering): RenderedAnswer => ({
  ...renderBody(answer, rendering),
  ...(answer.retry_after === undefined ? {} : { retryAfter: String(answer.retry_after) }),
});

const renderBody = (answer: Answer, rendering: Rendering): RenderedAnswer => {
  const { lookup, now, consultation } = rendering;
  const verdict = (valid: boolean) => wireVerdict({ lookup, valid, now, consultation });
  switch (answer.kind) {
    case 'valid':
      return json(wireVerdict({ lookup, valid: true, now, consultation, disclosed: answer }));
    case 'invalid':
      return json(verdict(false));
    case 'error':
      return renderError(answer, rendering);
    case 'vow_error':
      return json(wireError('VOW-ERR-1'), 500);
    case 'html':
      return { status: answer.status ?? 200, contentType: 'text/html; charset=utf-8', body: HTML };
    case 'half_json': {
      const { body, ...rest } = json(verdict(true));
      return { ...rest, body: body.slice(0, Math.ceil(body.length / 2)) };
    }
    case 'missing_valid': {
      const { valid: _left, ...others } = verdict(true);
      return json(others);
    }
    case 'valid_as_string':
      return json({ ...verdict(true), valid: 'true' });
    case 'false_with_error':
      return json({ ...verdict(false), ...wireError('MS_UNAVAILABLE') });
    case 'false_under_500':
      return json(verdict(false), 500);
    case 'empty':
      return { status: 200, contentType: 'application/json', body: '' };
    case 'status': {
      const { status, body = '' } = answer;
      return typeof body === 'string' ? text(status, body) : json(body, status);
    }
    case 'quirky':
      return json({ ...verdict(true), name: QUIRKY_NAME, address: '---', requestIdentifier: '' });
    default:
      return json(verdict(true));
  }
};

const DRIP_INTERVAL_MS = 200;
const HUGE_CHUNK = Buffer.alloc(64 * 1024, 'A');

/** Sends an answer in the way of its kind. Endless answers stop when the client disconnects. */
export const sendAnswer = (response: ServerResponse, kind: Answer['kind'], rendered: RenderedAnswer): void => {
  const { status, contentType, retryAfter } = rendered;
  const body = Buffer.from(rendered.body);
  const headers = {
    'content-type': contentType,
    'content-length': body.byteLength,
    ...(retryAfter === undefined ? {} : { 'retry-after': retryAfter }),
  };

  if (kind === 'hang') return;
  if (kind === 'reset') {
    response.socket?.resetAndDestroy();
    return;
  }
  if (kind === 'cut') {
    const half = body.subarray(0, Math.ceil(body.byteLength / 2));
    response.writeHead(status, headers).write(half, () => response.socket?.destroy());
    return;
  }
  if (kind === 'drip') {
    response.writeHead(status, headers).flushHeaders();
    let sent = 0;
    const timer = setInterval(() => {
      response.write(body.subarray(sent, sent + 1));
      sent += 1;
      if (sent < body.byteLength) return;
      clearInterval(timer);
      response.end();
    }, DRIP_INTERVAL_MS);
    response.once('close', () => clearInterval(timer));
    return;
  }
  if (kind === 'huge') {
    response.writeHead(status, { 'content-type': contentType });
    response.write('{"valid":true,"name":"');
    const writeMore = () => {
      while (!response.destroyed && response.write(HUGE_CHUNK));
    };
    response.on('drain', writeMore);
    writeMore();
    return;
  }
  response.writeHead(status, headers).end(body);
};
