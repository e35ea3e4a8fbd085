import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MEMBER_STATES } from '@vat/domain';
import { CONTROL_PATH, handleControl } from './handle-control.js';
import { handleLookup } from './handle-lookup.js';
import { createScript } from './script.js';
import { createJournal, createTraffic } from './traffic.js';
import { readJson, sendJson } from './wire.js';

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
  const script = createScript({ latencyMs, random });
  const traffic = createTraffic();
  const journal = createJournal({ limit: JOURNAL_LIMIT });
  const answerLookup = handleLookup({ script, traffic, journal });
  const control = handleControl({ script, traffic, journal });

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
