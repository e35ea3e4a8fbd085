import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { EnrichmentSourceName, EnrichmentSubject } from '@vat/domain';
import { callSource } from './call-source.js';
import { baseUrlOf, DEFINITIONS } from './create-enrichment-sources.js';
import { localDate, readAnswer } from './read-answer.js';
import type { SourceDefinition } from './source-definition.js';
import { deEvatr } from './sources/de-evatr.js';

/** What one harmless question to one source came to. `status` is that of HTTP; null when none came. */
type SourceProbe = { name: string; ok: boolean; ms: number; status: number | null; detail: string | null };

type ProbeSourcesDeps = {
  enabled: readonly EnrichmentSourceName[];
  urls: Partial<Record<EnrichmentSourceName, string>>;
  userAgent: string;
  /** Deadline of each question, in milliseconds. */
  timeoutMs: number;
  /** Counts a search of a source that allows only so many in a `day`; a failure is passed over. */
  countSearch: (source: EnrichmentSourceName, day: string) => Promise<unknown>;
  now: () => Date;
};

const NOBODY = {
  ...{ valid: true, name: null, address: null, requester: null, trader: null, registerId: null },
  ...{ accountId: 'probe', callerWaits: true },
};

/** Whom a register is asked about: public bodies and listed companies, whose numbers anybody can look up. */
const SUBJECTS: Readonly<Record<EnrichmentSourceName, EnrichmentSubject>> = {
  pl_white_list: { ...NOBODY, memberState: 'PL', national: '5260250274' }, // Ministerstwo Finansów
  cz_ares: { ...NOBODY, memberState: 'CZ', national: '00006947' }, // Ministerstvo financí
  ro_anaf: { ...NOBODY, memberState: 'RO', national: '14056826' }, // Romgaz
  fr_recherche_entreprises: { ...NOBODY, memberState: 'FR', national: '00130025265' }, // DINUM, which runs the directory
  fi_prh: { ...NOBODY, memberState: 'FI', national: '01120389' }, // Nokia
  de_evatr: { ...NOBODY, memberState: 'AT', national: '' },
  gleif: { ...NOBODY, memberState: 'DE', national: '', name: 'Siemens Aktiengesellschaft' },
};

/** eVatR answers about numbers to German requesters alone; its list of member states is open to all. */
const evatrStates: SourceDefinition = {
  ...deEvatr,
  ask: () => ({ path: deEvatr.dailyList.path }),
  read: (json) => {
    const states = deEvatr.dailyList.read(json);
    return states && { outcome: 'found', detail: [['member states', states.length]] };
  },
  readRefusal: () => null,
};

/**
 * Asks each enabled source one question, all at once and each within its deadline; never rejects. An answer in the
 * source's own form is `ok`, whatever it says.
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
    const question = definition.ask(subject, { today, list: null });
    if ('skip' in question) return { name, ok: false, ms: 0, status: null, detail: question.skip };
    const counted = definition.shared
      ? countSearch(name, today(definition.shared.timeZone)).catch(() => undefined)
      : null;
    const { path, json } = question;
    const made = await call({
      ...{ source: name, url: `${baseUrlOf(name, urls[name])}${path}`, accept: definition.accept, timeoutMs },
      ...(json === undefined ? {} : { json }),
    });
    await counted;
    const { outcome, code, detail } = readAnswer(definition, made, subject);
    const ok = outcome === 'found' || outcome === 'not_found';
    return {
      ...{ name, ok, ms: made.exchange.durationMs, status: made.exchange.response?.status ?? null },
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
