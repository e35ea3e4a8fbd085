import type { Answer } from './answer.js';
import type { WireAsk } from './wire-ask.js';
import { messageOf, statusOf, wireError, wireVerdict } from './wire-body.js';

/** A whole HTTP answer, ready to send. */
export type RenderedAnswer = { status: number; contentType: string; body: string; retryAfter?: string };

const HTML =
  '<!DOCTYPE html>\n<html><head><title>VIES</title></head><body><h1>The service is under maintenance</h1></body></html>\n';
const QUIRKY_NAME = 'Quirky\u0000 \u0007Tra\u009Fder\uD800 &\u007F \uDC00Sons\u001B';

const json = (body: Record<string, unknown>, status = 200): RenderedAnswer => ({
  status,
  contentType: 'application/json',
  body: JSON.stringify(body),
});

type Rendering = { ask: WireAsk; now: Date; consultation: string };

const text = (status: number, body: string): RenderedAnswer => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  body,
});

const renderError = (answer: Extract<Answer, { kind: 'error' }>, { ask, now }: Rendering): RenderedAnswer => {
  const { code, status = statusOf(code), form = 'wrappers', message = messageOf(code) } = answer;
  switch (form) {
    case 'wrappers':
      return json(wireError(code), status);
    case 'message':
      return json(wireError(code, message), status);
    case 'user_error':
      return json({ isValid: false, requestDate: now.toISOString(), userError: code, vatNumber: ask.national }, status);
    case 'error':
      return json({ timestamp: now.toISOString(), status, error: code, message }, status);
    case 'text':
      return text(status, `${code}: ${message}`);
  }
};

/** The bytes of every kind of answer that has bytes; `reset`, `cut`, `hang`, `drip` and `huge` get those of a valid one. */
export const renderAnswer = (answer: Answer, rendering: Rendering): RenderedAnswer => ({
  ...renderBody(answer, rendering),
  ...(answer.retry_after === undefined ? {} : { retryAfter: String(answer.retry_after) }),
});

const renderBody = (answer: Answer, rendering: Rendering): RenderedAnswer => {
  const { ask, now, consultation } = rendering;
  const verdict = (valid: boolean) => wireVerdict({ ask, valid, now, consultation });
  switch (answer.kind) {
    case 'valid':
      return json(wireVerdict({ ask, valid: true, now, consultation, disclosed: answer }));
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
