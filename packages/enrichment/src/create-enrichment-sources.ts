import {
  ENRICHMENT_SOURCES,
  type EnrichmentSource,
  type EnrichmentSourceName,
  type ReserveCall,
  type SearchBudget,
} from '@vat/domain';
import { createSource } from './create-source.js';
import { openSourceCalls } from './open-source-calls.js';
import { localDate } from './register-fields.js';
import { czAres } from './sources/cz-ares.js';
import { deEvatr } from './sources/de-evatr.js';
import { fiPrh } from './sources/fi-prh.js';
import { frRechercheEntreprises } from './sources/fr-recherche-entreprises.js';
import { gleif } from './sources/gleif.js';
import { plWhiteList } from './sources/pl-white-list.js';
import { roAnaf } from './sources/ro-anaf.js';

export type EnrichmentSourcesDeps = {
  /** The enabled sources. Setting ENRICHMENT_SOURCES. */
  enabled: readonly EnrichmentSourceName[];
  /** Base URLs that differ from the default. Settings ENRICHMENT_<NAME>_URL. */
  urls: Partial<Record<EnrichmentSourceName, string>>;
  /** Deadline of one `consult`, including the wait for the rate limit, in milliseconds. */
  timeoutMs: number;
  /** The `user-agent` of every call. */
  userAgent: string;
  /** An http proxy for every call. */
  proxyUrl?: string | undefined;
  /** Counts the searches of pl_white_list across the fleet. */
  budget: SearchBudget;
  /** Spaces the calls to a source across the fleet. */
  reserveCall: ReserveCall;
  /**
   * Searches of pl_white_list that the fleet may make in one Polish day. Setting
   * ENRICHMENT_PL_WHITE_LIST_DAILY_SEARCHES.
   */
  dailySearches: number;
  now: () => Date;
  /** The day (YYYY-MM-DD) in a time zone; that of `now` by default. */
  today?: (timeZone: string) => string;
};

/** All sources, in the catalogue's order. */
export const DEFINITIONS = [plWhiteList, czAres, roAnaf, frRechercheEntreprises, fiPrh, deEvatr, gleif] as const;

/**
 * Creates the enabled national sources in the catalogue's order. They share connections; each has its own
 * circuit. Call `close` after the last `consult`; it closes the open connections.
 *
 * @throws TypeError when a given base URL is not http or https
 */
export const createEnrichmentSources = (
  deps: EnrichmentSourcesDeps,
): { sources: EnrichmentSource[]; close: () => void } => {
  const { enabled, urls, timeoutMs, userAgent, proxyUrl, budget, reserveCall, dailySearches, now } = deps;
  const today = deps.today ?? ((timeZone: string) => localDate(now(), timeZone));
  const { callsOf, close } = openSourceCalls({ userAgent, proxyUrl, urls, now });
  const definitions = DEFINITIONS.filter(({ name }) => enabled.includes(name));
  return {
    sources: definitions.map((definition) =>
      createSource({ call: callsOf(definition), timeoutMs, budget, reserveCall, dailySearches, now, today })(
        definition,
      ),
    ),
    close,
  };
};

type UrlSetting = `ENRICHMENT_${Uppercase<EnrichmentSourceName>}_URL`;

/** Parses ENRICHMENT_SOURCES; the result is in the catalogue's order. Throws an Error that lists unknown names. */
export const readEnabledSources = (text: string): EnrichmentSourceName[] => {
  const names = text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  if (names.length === 1 && names[0] === 'none') return [];
  if (names.includes('all')) return [...ENRICHMENT_SOURCES];
  if (names.length === 0)
    throw new Error('ENRICHMENT_SOURCES has no name in it: write none, all, or names of sources.');
  const unknown = names.filter((name) => !(ENRICHMENT_SOURCES as readonly string[]).includes(name));
  if (unknown.length > 0)
    throw new Error(
      `ENRICHMENT_SOURCES names ${unknown.join(', ')}; known are ${ENRICHMENT_SOURCES.join(', ')} and all.`,
    );
  return ENRICHMENT_SOURCES.filter((name) => names.includes(name));
};

/** Reads the base URLs from the settings ENRICHMENT_<NAME>_URL. */
export const readSourceUrls = (
  settings: Partial<Record<UrlSetting, string | undefined>>,
): Partial<Record<EnrichmentSourceName, string>> =>
  Object.fromEntries(
    ENRICHMENT_SOURCES.flatMap((name) => {
      const url = settings[`ENRICHMENT_${name.toUpperCase() as Uppercase<EnrichmentSourceName>}_URL`];
      return url === undefined ? [] : [[name, url]];
    }),
  );
