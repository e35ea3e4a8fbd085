import { isMemberState } from '@vat/domain';
import { z } from 'zod';
import { answerSchema, loadSchema, numberSchema, stateSchema } from './answer.js';
import type { Script } from './script.js';
import type { Journal, Traffic } from './traffic.js';

type HandleControlDeps = { script: Script; traffic: Traffic; journal: Journal };
type ControlCall = { method: string; url: URL; body: unknown };
type ControlReply = { status: number; body: unknown };

/** The path below which the sandbox is told what to do; VIES has nothing there. */
export const CONTROL_PATH = '/_control';

const DONE: ControlReply = { status: 200, body: { ok: true } };

/**
 * The control interface: PUT `defaults`, `states/DE`, `answer`, `numbers/DE123456789`; GET `stats`, `journal?number=`;
 * DELETE resets everything. Replies 200, 400 with what is wrong with the body, or 404.
 */
export const handleControl =
  ({ script, traffic, journal }: HandleControlDeps) =>
  ({ method, url, body }: ControlCall): ControlReply => {
    const [what = '', which = ''] = url.pathname.slice(CONTROL_PATH.length + 1).split('/');

    const accept = <S extends z.ZodType>(schema: S, use: (input: z.output<S>) => void): ControlReply => {
      const parsed = schema.safeParse(body);
      if (!parsed.success) return { status: 400, body: { error: z.prettifyError(parsed.error) } };
      use(parsed.data);
      return DONE;
    };

    if (method === 'DELETE' && what === '') {
      script.reset();
      traffic.reset();
      journal.reset();
      return DONE;
    }
    if (method === 'GET' && what === 'stats') return { status: 200, body: traffic.stats() };
    if (method === 'GET' && what === 'journal') {
      return { status: 200, body: journal.list(url.searchParams.get('number')) };
    }
    if (method === 'PUT' && what === 'defaults') return accept(loadSchema, script.setDefaults);
    if (method === 'PUT' && what === 'answer') return accept(answerSchema.nullable(), script.setAnswer);
    if (method === 'PUT' && what === 'states' && isMemberState(which)) {
      return accept(stateSchema, (input) => script.setState(which, input));
    }
    if (method === 'PUT' && what === 'numbers' && which !== '') {
      return accept(numberSchema, (input) => script.setNumber(which, input));
    }
    return { status: 404, body: { error: 'no such control' } };
  };
