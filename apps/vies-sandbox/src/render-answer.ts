import type { Answer } from './answer.js';
import type { WireAsk } from './wire-ask.js';
import { wireError, wireVerdict } from './wire-body.js';

/** A whole HTTP answer, ready to send. */
export type RenderedAnswer = { status: number; contentType: string; body: string };

const HTML =
  '<!DOCTYPE html>\n<html><head><title>VIES</title></head><body><h1>The service is under maintenance</h1></body></html>\n';
const QUIRKY_NAME = 'Quirky\u0000 \u0007Tra\u009Fder\uD800 &\u007F \uDC00Sons\u001B';

const json = (body: Record<string, unknown>, status = 200): RenderedAnswer => ({
  status,
  contentType: 'application/json',
  body: JSON.stringify(body),
});

type Rendering = { ask: WireAsk; now: Date; consultation: string };

/** The bytes of every kind of answer that has bytes; `reset`, `hang`, `drip` and `huge` get those of a valid one. */
export const renderAnswer = (answer: Answer, { ask, now, consultation }: Rendering): RenderedAnswer => {
  const verdict = (valid: boolean) => wireVerdict({ ask, valid, now, consultation });
  switch (answer.kind) {
    case 'valid':
      return json(wireVerdict({ ask, valid: true, now, consultation, disclosed: answer }));
    case 'invalid':
      return json(verdict(false));
    case 'error':
      return json(wireError(answer.code), answer.status);
    case 'vow_error':
      return json(wireError('VOW-ERR-1'), 500);
    case 'html':
      return { status: 200, contentType: 'text/html; charset=utf-8', body: HTML };
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
      return typeof body === 'string' ? { status, contentType: 'text/plain; charset=utf-8', body } : json(body, status);
    }
    case 'quirky':
      return json({ ...verdict(true), name: QUIRKY_NAME, address: '---', requestIdentifier: '' });
    default:
      return json(verdict(true));
  }
};
