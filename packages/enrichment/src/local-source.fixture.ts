import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { EnrichmentSource, EnrichmentSourceName, EnrichmentSubject, ReserveCall, SearchBudget } from '@vat/domain';
import { createPace } from '@vat/outgoing';
import { listenLocally } from '@vat/testkit/local-server';
import { createEnrichmentSources, type EnrichmentSourcesDeps } from './create-enrichment-sources.js';

/** Answers a request to the local server, whose body is already read. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** A received request; `at` in milliseconds of the monotonic clock. */
type Seen = {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
  at: number;
  port: number;
};

/** A real HTTP server on loopback in place of one source, and that source configured to call it. */
type LocalSource = {
  source: EnrichmentSource;
  seen: Seen[];
  url: string;
  answer: (handler: Handler) => void;
  openConnections: () => Promise<number>;
  closeSources: () => void;
};

export const json =
  (body: unknown, status = 200): Handler =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };

export const text =
  (body: string, status = 200, type = 'text/html'): Handler =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': type }).end(body);
  };

const COMMON = {
  ...{ valid: true, address: null, requester: null, trader: null, registerId: null },
  ...{ accountId: 'one', callerWaits: true },
};

/** For each source a subject that it applies to. */
export const SUBJECTS: Readonly<Record<EnrichmentSourceName, EnrichmentSubject>> = {
  pl_white_list: { ...COMMON, memberState: 'PL', national: '5260250274', name: 'MF' },
  cz_ares: { ...COMMON, memberState: 'CZ', national: '00006947', name: 'MF' },
  ro_anaf: { ...COMMON, memberState: 'RO', national: '14056826', name: 'ROMGAZ' },
  fr_recherche_entreprises: { ...COMMON, memberState: 'FR', national: '40303265045', name: 'SA SODIMAS' },
  fi_prh: { ...COMMON, memberState: 'FI', national: '01120389', name: 'Nokia Oyj' },
  de_evatr: {
    ...{ ...COMMON, memberState: 'AT', national: 'U12345675', name: null },
    requester: { memberState: 'DE', national: '123456788' },
  },
  gleif: { ...COMMON, memberState: 'IE', national: '6388047V', name: 'GOOGLE IRELAND LIMITED' },
};

/** Counts a day's searches as the database does, in memory. */
export const countedSearches = (): SearchBudget & { days: Map<string, { used: number; blocked: boolean }> } => {
  const days = new Map<string, { used: number; blocked: boolean }>();
  const dayOf = (source: string, day: string) => {
    const counted = days.get(`${source} ${day}`) ?? { used: 0, blocked: false };
    days.set(`${source} ${day}`, counted);
    return counted;
  };
  return {
    days,
    take: async ({ source, day, limit }) => {
      const counted = dayOf(source, day);
      if (counted.blocked) return 'blocked';
      if (counted.used >= limit) return 'exhausted';
      counted.used += 1;
      return 'taken';
    },
    block: async (source, day) => {
      dayOf(source, day).blocked = true;
    },
  };
};

/** Spaces calls as Redis does for a fleet, in memory. */
export const countedStarts = (): ReserveCall => {
  const paces = new Map<EnrichmentSourceName, ReturnType<typeof createPace>>();
  return async (source, { gapMs, maxWaitMs }) => {
    const pace = paces.get(source) ?? createPace({ gapMs });
    paces.set(source, pace);
    return pace(maxWaitMs);
  };
};

/** The dependencies of sources except their URL. */
export const SOURCE_DEPS = {
  timeoutMs: 4_000,
  userAgent: 'vat-test (+https://vat.example.com/contact)',
  dailySearches: 100,
  reserveCall: async () => 0,
  now: () => new Date(),
};

/** Runs `body` with a local server and the named source configured to call it, and always closes both. */
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
  const local = await listenLocally(server);
  const { url } = local;
  const { sources, close } = createEnrichmentSources({
    enabled: [name],
    urls: { [name]: url },
    ...SOURCE_DEPS,
    budget: countedSearches(),
    reserveCall: countedStarts(),
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
    await local.close();
  }
};
