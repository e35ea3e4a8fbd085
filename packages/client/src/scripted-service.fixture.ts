import { text } from 'node:stream/consumers';
import { openHttpServer } from '@vat/testkit/local-server';
import { createClient } from './client.js';

/** What the service answers to one call; `close` ends the connection instead, `wait` gives no answer. */
type ScriptedAnswer = { status?: number; headers?: Record<string, string>; body?: unknown } | 'close' | 'wait';

/** A call as the service received it. */
type ReceivedCall = { method: string; path: string; headers: NodeJS.Dict<string | string[]>; body: string };

/** A local service that gives prepared answers in order, and a client of it whose waits take no time. */
export const openScriptedService = async () => {
  const calls: ReceivedCall[] = [];
  const waits: number[] = [];
  let answers: ScriptedAnswer[] = [];
  let clock = 0;
  const { url: baseUrl, close } = await openHttpServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    calls.push({ method, path: url, headers, body: await text(request) });
    const answer = answers.shift() ?? { status: 418 };
    if (answer === 'wait') return;
    if (answer === 'close') return void request.socket.destroy();
    const { status = 200, headers: more, body } = answer;
    response.writeHead(status, { 'Content-Type': 'application/json', ...more });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  const sleep = async (ms: number, signal?: AbortSignal) => {
    signal?.throwIfAborted();
    waits.push(ms);
    clock += ms;
  };
  const client = createClient({ apiKey: 'vat_test_key', baseUrl }, { now: () => clock, sleep, random: () => 0 });
  return {
    client,
    baseUrl,
    calls,
    waits,
    /** Sets what follows, and forgets what was. */
    script: (...next: ScriptedAnswer[]) => {
      answers = next;
      calls.length = 0;
      waits.length = 0;
    },
    close,
  };
};

export type ScriptedService = Awaited<ReturnType<typeof openScriptedService>>;

/** An answer with an error of the service. */
export const refusal = (status: number, code: string, fields: Record<string, unknown> = {}): ScriptedAnswer => ({
  status,
  headers: { 'X-Request-Id': 'call-1' },
  body: { error: { code, message: `${code} happened.`, ...fields } },
});
