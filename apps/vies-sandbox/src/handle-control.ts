import { isMemberState } from '@vat/domain';
import { z } from 'zod';
import { answerSchema, loadSchema, numberSchema, stateSchema } from './answer.js';
import type { Script } from './script.js';
import type { Journal, Traffic } from './traffic.js';

type HandleControlDeps = { script: Script; traffic: Traffic; journal: Journal };
type ControlCall = { method: string; url: URL; body: unknown };
type ControlReply = { status: number; body: unknown };

/** The path of the control interface; VIES does not use it. */
export const CONTROL_PATH = '/_control';

const DONE: ControlReply = { status: 200, body: { ok: true } };

/**
 * The control interface: PUT `defaults`, `states/DE`, `answer`, `numbers/DE123456789`; GET `stats`, `journal?number=`;
 * DELETE resets everything. Replies with 200, with 400 and a description of the invalid body, or with 404.
 */
export const handleControl =
  ({ script, traffic, journal }: HandleControlDeps) =>
  ({ method, url, body }: ControlCall): ControlReply => {
    const [resource = '', name = ''] = url.pathname.slice(CONTROL_PATH.length + 1).split('/');

    const accept = <S extends z.ZodType>(schema: S, use: (input: z.output<S>) => void): ControlReply => {
      const parsed = schema.safeParse(body);
      if (!parsed.success) return { status: 400, body: { error: z.prettifyError(parsed.error) } };
      use(parsed.data);
      return DONE;
    };

    if (method === 'DELETE' && resource === '') {
      script.reset();
      traffic.reset();
      journal.reset();
      return DONE;
    }
    if (method === 'GET' && resource === 'stats') return { status: 200, body: traffic.stats() };
    if (method === 'GET' && resource === 'journal') {
      return { status: 200, body: journal.list(url.searchParams.get('number')) };
    }
    if (method === 'PUT' && resource === 'defaults') return accept(loadSchema, script.setDefaults);
    if (method === 'PUT' && resource === 'answer') return accept(answerSchema.nullable(), script.setAnswer);
    if (method === 'PUT' && resource === 'states' && isMemberState(name)) {
      return accept(stateSchema, (input) => script.setState(name, input));
    }
    if (method === 'PUT' && resource === 'numbers' && name !== '') {
      return accept(numberSchema, (input) => script.setNumber(name, input));
    }
    return { status: 404, body: { error: 'no such control' } };
  };
