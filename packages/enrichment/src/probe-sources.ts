import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { EnrichmentSourceName, EnrichmentSubject } from '@vat/domain';
import { callSource } from './call-source.js';
import { baseUrlOf, DEFINITIONS } from './create-enrichment-sources.js';
import { localDate, readAnswer } from './read-answer.js';
import type { SourceDefinition } from './source-definition.js';
import { deEvatr } from './sources/de-evatr.js';

/** The result of one test request to a source. `status` is the HTTP status; null when there was no answer. */
type SourceProbe = { name: string; ok: boolean; ms: number; status: number | null; detail: string | null };

type ProbeSourcesDeps = {
  enabled: readonly EnrichmentSourceName[];
  urls: Partial<Record<EnrichmentSourceName, string>>;
  userAgent: string;
  /** Deadline of each request, in milliseconds. */
  timeoutMs: number;
  /** Counts a search of a source with a limit for each `day`; a failure is ignored. */
  countSearch: (source: EnrichmentSourceName, day: string) => Promise<unknown>;
  now: () => Date;
};

const COMMON = {
  ...{ valid: true, name: null, address: null, requester: null, trader: null, registerId: null },
  ...{ accountId: 'probe', callerWaits: true },
};

/** The subjects of the requests: public bodies and listed companies, whose numbers are public. */
const SUBJECTS: Readonly<Record<EnrichmentSourceName, EnrichmentSubject>> = {
  pl_white_list: { ...COMMON, memberState: 'PL', national: '5260250274' }, // Ministerstwo Finansów
  cz_ares: { ...COMMON, memberState: 'CZ', national: '00006947' }, // Ministerstvo financí
  ro_anaf: { ...COMMON, memberState: 'RO', national: '14056826' }, // Romgaz
  fr_recherche_entreprises: { ...COMMON, memberState: 'FR', national: '00130025265' }, // DINUM, which runs the directory
  fi_prh: { ...COMMON, memberState: 'FI', national: '01120389' }, // Nokia
  de_evatr: { ...COMMON, memberState: 'AT', national: '' },
  gleif: { ...COMMON, memberState: 'DE', national: '', name: 'Siemens Aktiengesellschaft' },
};

/** eVatR answers only German requesters about numbers; its list of member states is public. */
const evatrStates: SourceDefinition = {
  ...deEvatr,
  createRequest: () => ({ path: deEvatr.dailyList.path }),
  read: (json) => {
    const states = deEvatr.dailyList.read(json);
    return states && { outcome: 'found', detail: [['member states', states.length]] };
  },
  readRefusal: () => null,
};

/**
 * Makes one request to each enabled source, all at once and each within its deadline. Never rejects. An answer in the
 * source's own form is `ok`, whatever its content.
 */
export const probeSources = async (deps: ProbeSourcesDeps): Promise<SourceProbe[]> => {
  const { enabled, urls, userAgent, timeoutMs, countSearch, now } = deps;
  const agents = { http: new HttpAgent(), https: new HttpsAgent() };
  const call = callSource({ agents, userAgent, now });
  const today = (timeZone: string) => localDate(now(), timeZone);

  const probe = async (listed: SourceDefinition): Promise<SourceProbe> => {
    const { name } = listed;
    const definition = name === 'de_evatr' ? evatrStates : listed;
    const subject = SUBJECTS[name];
    const request = definition.createRequest(subject, { today, list: null });
    if ('skip' in request) return { name, ok: false, ms: 0, status: null, detail: request.skip };
    const counted = definition.shared
      ? countSearch(name, today(definition.shared.timeZone)).catch(() => undefined)
      : null;
    const { path, json } = request;
    const sourceCall = await call({
      ...{ source: name, url: `${baseUrlOf(name, urls[name])}${path}`, accept: definition.accept, timeoutMs },
      ...(json === undefined ? {} : { json }),
    });
    await counted;
    const { outcome, code, detail } = readAnswer(definition, sourceCall, subject);
    const ok = outcome === 'found' || outcome === 'not_found';
    return {
      ...{ name, ok, ms: sourceCall.exchange.durationMs, status: sourceCall.exchange.response?.status ?? null },
      detail: [outcome, code, ok ? null : detail].filter(Boolean).join(', '),
    };
  };

  try {
    return await Promise.all(DEFINITIONS.filter(({ name }) => enabled.includes(name)).map(probe));
  } finally {
    agents.http.destroy();
    agents.https.destroy();
  }
};
