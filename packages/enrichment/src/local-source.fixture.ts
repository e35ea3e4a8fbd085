import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EnrichmentSource, EnrichmentSourceName, EnrichmentSubject } from '@vat/domain';
import { createEnrichmentSources, type EnrichmentSourcesDeps } from './create-enrichment-sources.js';

/** How the local server answers; the request's body is read already. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A request as it arrived; `at` in milliseconds of the monotonic clock. */
export type Seen = {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
  at: number;
  port: number;
};

/** A real HTTP server on loopback standing for one source, and that source set up to ask it. */
export type LocalSource = {
  source: EnrichmentSource;
  seen: Seen[];
  url: string;
  answer: (handler: Handler) => void;
  openConnections: () => Promise<number>;
  closeSources: () => void;
};

/** An answer of `json` under `status`. */
export const json =
  (body: unknown, status = 200): Handler =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };

/** An answer of `body` as `type` under `status`. */
export const text =
  (body: string, status = 200, type = 'text/html'): Handler =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': type }).end(body);
  };

/** A subject each source applies to. */
export const SUBJECTS: Readonly<Record<EnrichmentSourceName, EnrichmentSubject>> = {
  pl_white_list: { memberState: 'PL', national: '5260250274', valid: true, name: 'MF', address: null, requester: null },
  cz_ares: { memberState: 'CZ', national: '00006947', valid: true, name: 'MF', address: null, requester: null },
  ro_anaf: { memberState: 'RO', national: '14056826', valid: true, name: 'ROMGAZ', address: null, requester: null },
  fr_recherche_entreprises: {
    memberState: 'FR',
    national: '40303265045',
    valid: true,
    name: 'SA SODIMAS',
    address: null,
    requester: null,
  },
  fi_prh: { memberState: 'FI', national: '01120389', valid: true, name: 'Nokia Oyj', address: null, requester: null },
  de_evatr: {
    memberState: 'AT',
    national: 'U12345675',
    valid: true,
    name: null,
    address: null,
    requester: { memberState: 'DE', national: '123456788' },
  },
  gleif: {
    memberState: 'IE',
    national: '6388047V',
    valid: true,
    name: 'GOOGLE IRELAND LIMITED',
    address: null,
    requester: null,
  },
};

/** Runs `body` with a local server and the named source pointed at it, and closes both whatever happens. */
export const withLocalSource = async (
  name: EnrichmentSourceName,
  handler: Handler,
  body: (local: LocalSource) => Promise<void>,
  deps: Partial<EnrichmentSourcesDeps> = {},
): Promise<void> => {
  const seen: Seen[] = [];
  let current = handler;
  const server = createServer((request, response) => {
    const at = performance.now();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      seen.push({
        method,
        url,
        headers,
        body: Buffer.concat(chunks).toString(),
        at,
        port: request.socket.remotePort ?? 0,
      });
      current(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { sources, close } = createEnrichmentSources({
    enabled: [name],
    urls: { [name]: url },
    timeoutMs: 4_000,
    now: () => new Date(),
    ...deps,
  });
  try {
    const [source] = sources;
    if (!source) throw new Error(`${name} was not created`);
    await body({
      source,
      seen,
      url,
      answer: (next) => {
        current = next;
      },
      openConnections: () =>
        new Promise((resolve, reject) => server.getConnections((error, n) => (error ? reject(error) : resolve(n)))),
      closeSources: close,
    });
  } finally {
    close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
};
