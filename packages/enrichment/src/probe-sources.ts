import type { EnrichmentSourceName, EnrichmentSubject } from '@vat/domain';
import type { Probe } from '@vat/outgoing';
import { DEFINITIONS } from './create-enrichment-sources.js';
import { openSourceCalls } from './open-source-calls.js';
import { readAnswer } from './read-answer.js';
import { localDate } from './register-fields.js';
import type { SourceDefinition } from './source-definition.js';
import { deEvatr } from './sources/de-evatr.js';

type ProbeSourcesDeps = {
  enabled: readonly EnrichmentSourceName[];
  urls: Partial<Record<EnrichmentSourceName, string>>;
  userAgent: string;
  proxyUrl?: string | undefined;
  /** Deadline of each request, in milliseconds. */
  timeoutMs: number;
  /** Counts a search of a source with a limit for each `day`; a failure is ignored. */
  countSearch: (source: EnrichmentSourceName, day: string) => Promise<unknown>;
  now: () => Date;
};

const SUBJECT: EnrichmentSubject = {
  ...{ valid: true, memberState: 'AT', national: '', name: null, address: null, requester: null, trader: null },
  ...{ registerId: null, accountId: 'probe', callerWaits: true },
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
export const probeSources = async (deps: ProbeSourcesDeps): Promise<Probe[]> => {
  const { enabled, urls, userAgent, proxyUrl, timeoutMs, countSearch, now } = deps;
  const { callsOf, close } = openSourceCalls({ urls, userAgent, proxyUrl, now });
  const today = (timeZone: string) => localDate(now(), timeZone);

  const probe = async (listed: SourceDefinition): Promise<Probe> => {
    const { name, sample, shared } = listed;
    const definition = name === 'de_evatr' ? evatrStates : listed;
    const subject = { ...SUBJECT, ...sample };
    const request = definition.createRequest(subject, { today, list: null });
    if ('skip' in request) return { name, ok: false, ms: 0, status: null, detail: request.skip };
    const counted = shared && countSearch(name, today(shared.timeZone)).catch(() => undefined);
    const call = await callsOf(definition)(request, timeoutMs);
    await counted;
    const { outcome, code, detail } = readAnswer(definition, call, subject, today);
    const ok = outcome === 'found' || outcome === 'not_found';
    return {
      ...{ name, ok, ms: call.durationMs, status: call.response?.status ?? null },
      detail: [outcome, code, ok ? null : detail].filter(Boolean).join(', '),
    };
  };

  try {
    return await Promise.all(DEFINITIONS.filter(({ name }) => enabled.includes(name)).map(probe));
  } finally {
    close();
  }
};
