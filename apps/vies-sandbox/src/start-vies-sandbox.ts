import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isMemberState, MEMBER_STATES } from '@vat/domain';
import { z } from 'zod';
import { answerSchema, loadSchema, numberSchema, renderAnswer, sendAnswer, stateSchema } from './answer.js';
import { createScript, type Script } from './script.js';
import { createJournal, createTraffic, type Journal, type JournalEntry, type Traffic } from './traffic.js';
import { messageOf, readJson, readWireLookup, sendJson, statusOf, wireError } from './wire.js';

/** What both interfaces of a sandbox work on. */
type Sandbox = { script: Script; traffic: Traffic; journal: Journal };

type IncomingLookup = { body: unknown; testService: boolean; response: ServerResponse };

const preciseNow = (): number => performance.timeOrigin + performance.now();

/** Answers one lookup as scripted. The lookup is in flight until its answer is sent or its client has disconnected. */
const handleLookup = ({ script, traffic, journal }: Sandbox) => {
  let consultations = 0;

  return ({ body, testService, response }: IncomingLookup): void => {
    const lookup = readWireLookup(body);
    if (typeof lookup === 'string') {
      const code = lookup;
      sendJson(response, statusOf(code), wireError(code, messageOf(code)));
      return;
    }

    const inFlight = traffic.enter(lookup.memberState);
    const { answer, delayMs } = script.play(lookup, inFlight, testService);
    const entry: JournalEntry = {
      at: preciseNow(),
      finished_at: null,
      member_state: lookup.memberState,
      number: lookup.memberState + lookup.national,
      requester: lookup.requester,
      trader: lookup.trader,
      answer: answer.kind,
      code: answer.kind === 'error' ? answer.code : null,
      in_flight_at_start: inFlight,
    };
    journal.add(entry);

    const send = () => {
      consultations += 1;
      const consultation = `WAPI${consultations.toString(36).toUpperCase().padStart(12, '0')}`;
      sendAnswer(response, answer.kind, renderAnswer(answer, { lookup, now: new Date(), consultation }));
    };
    let timer: NodeJS.Timeout | undefined;
    response.once('close', () => {
      clearTimeout(timer);
      entry.finished_at = preciseNow();
      traffic.leave(lookup.memberState, response.writableFinished);
    });
    if (delayMs > 0) timer = setTimeout(send, delayMs);
    else send();
  };
};

type ControlCall = { method: string; url: URL; body: unknown };
type ControlReply = { status: number; body: unknown };

/** The path of the control interface; VIES does not use it. */
const CONTROL_PATH = '/_control';

const DONE: ControlReply = { status: 200, body: { ok: true } };

/**
 * The control interface: PUT `defaults`, `states/DE`, `answer`, `numbers/DE123456789`; GET `stats`, `journal?number=`;
 * DELETE resets everything. Replies with 200, with 400 and a description of the invalid body, or with 404.
 */
const handleControl =
  ({ script, traffic, journal }: Sandbox) =>
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

type ViesSandboxOptions = {
  /** 0, the default, chooses a free one. */
  port?: number;
  host?: string;
  /** Latency of every answer in milliseconds until the control interface changes it. */
  latencyMs?: number;
  random?: () => number;
};

/** A running sandbox. `url` is its root, which can be the setting VIES_URL; `close` aborts the lookups in flight. */
export type ViesSandbox = { url: string; port: number; close: () => Promise<void> };

/** The base path of the real service's REST interface. */
const REST_BASE = '/taxation_customs/vies/rest-api';
const JOURNAL_LIMIT = 20_000;

// The real status has the same content when a member state is unavailable: it is wrong, and nothing may rely on it.
const STATUS = {
  vow: { available: true },
  countries: MEMBER_STATES.map((countryCode) => ({ countryCode, availability: 'Available' })),
};

const withoutBase = (path: string): string => (path.startsWith(REST_BASE) ? path.slice(REST_BASE.length) : path);

/**
 * Starts an HTTP server with VIES's wire format, at the root and below VIES's own path, and a control interface below
 * `/_control`. Each server has its own state, in memory.
 */
export const startViesSandbox = async ({
  port = 0,
  host = '127.0.0.1',
  latencyMs = 0,
  random = Math.random,
}: ViesSandboxOptions = {}): Promise<ViesSandbox> => {
  const sandbox: Sandbox = {
    script: createScript({ latencyMs, random }),
    traffic: createTraffic(),
    journal: createJournal({ limit: JOURNAL_LIMIT }),
  };
  const answerLookup = handleLookup(sandbox);
  const control = handleControl(sandbox);

  // A scripted hang must outlast every client, and an idle connection must not be closed while a lookup is being sent.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 120_000 }, (request, response) => {
    const { method = '' } = request;
    const path = withoutBase(request.url ?? '/');
    readJson(request, (body) => {
      if (method === 'POST' && (path === '/check-vat-number' || path === '/check-vat-test-service')) {
        answerLookup({ body, testService: path === '/check-vat-test-service', response });
      } else if (method === 'GET' && path === '/check-status') {
        sendJson(response, 200, STATUS);
      } else if (path.startsWith(CONTROL_PATH)) {
        const reply = control({ method, url: new URL(path, 'http://sandbox'), body });
        sendJson(response, reply.status, reply.body);
      } else {
        sendJson(response, 404, { error: 'not found' });
      }
    });
  });

  server.listen(port, host);
  await once(server, 'listening');
  const bound = (server.address() as AddressInfo).port;

  const close = async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return { url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`, port: bound, close };
};
