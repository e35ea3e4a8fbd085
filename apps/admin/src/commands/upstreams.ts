import { connectDatabase, searchBudget } from '@vat/db';
import { type EnrichmentSourceName, userAgentOf } from '@vat/domain';
import { probeSources, readEnabledSources, readSourceUrls } from '@vat/enrichment';
import { probeAuthority } from '@vat/evidence/proof';
import { readSettings, SettingsError } from '@vat/runtime';
import { probeVies } from '@vat/vies';
import type { Command } from '../command.js';
import { FailedCheck, UsageError } from '../command.js';

const SECONDS = { least: 1, usual: 10, most: 120 } as const;

const PROBE_SETTINGS = [
  'VIES_URL',
  'TSA_URL',
  'TSA_ROOTS',
  'TSA_HASH',
  'CONTACT_URL',
  'ENRICHMENT_SOURCES',
  'ENRICHMENT_PL_WHITE_LIST_DAILY_SEARCHES',
  'ENRICHMENT_PL_WHITE_LIST_URL',
  'ENRICHMENT_CZ_ARES_URL',
  'ENRICHMENT_RO_ANAF_URL',
  'ENRICHMENT_FR_RECHERCHE_ENTREPRISES_URL',
  'ENRICHMENT_FI_PRH_URL',
  'ENRICHMENT_DE_EVATR_URL',
  'ENRICHMENT_GLEIF_URL',
] as const;

const readTimeout = (text: string | boolean | undefined): number => {
  if (text === undefined) return SECONDS.usual * 1_000;
  const seconds = Number(text);
  if (!(seconds >= SECONDS.least && seconds <= SECONDS.most))
    throw new UsageError(`--timeout is a number of seconds, ${SECONDS.least} to ${SECONDS.most}.`);
  return seconds * 1_000;
};

/** A setting that is wrong in a way only its reader sees is the caller's to correct. */
const asSetting = <T>(read: () => T): T => {
  try {
    return read();
  } catch (error) {
    throw new SettingsError(error instanceof Error ? error.message : String(error));
  }
};

const DATABASE_TIMEOUT_MS = 2_000;

/** Counts a search of the day where there is a database; without one there is no service that shares the day with us. */
const countInDatabase =
  (url: string | undefined, limit: number) => async (source: EnrichmentSourceName, day: string) => {
    if (!url) return;
    const { db, close } = connectDatabase({
      ...{ url, maxConnections: 1, applicationName: 'vat-admin' },
      ...{ queryTimeoutMs: DATABASE_TIMEOUT_MS, connectTimeoutMs: DATABASE_TIMEOUT_MS },
    });
    try {
      await searchBudget(db).take(source, day, limit);
    } finally {
      await close();
    }
  };

const databaseUrlOf = (env: NodeJS.ProcessEnv): string | undefined =>
  env.DATABASE_URL || env.DATABASE_URL_FILE ? readSettings(env, ['DATABASE_URL']).DATABASE_URL : undefined;

/** upstreams probe. It needs neither Postgres nor Redis: it may be the first thing that is run on a machine. */
export const upstreamVerbs = (env: NodeJS.ProcessEnv, now: () => Date): Record<string, Command> => ({
  'upstreams probe': {
    usage: 'upstreams probe [--timeout SECONDS]',
    flags: { timeout: { type: 'string' } },
    run: async ({ flags }) => {
      const settings = readSettings(env, PROBE_SETTINGS);
      const { TSA_URL: tsaUrl, TSA_ROOTS: roots } = settings;
      const userAgent = userAgentOf(settings.CONTACT_URL);
      const timeoutMs = readTimeout(flags.timeout);
      const enabled = asSetting(() => readEnabledSources(settings.ENRICHMENT_SOURCES));
      const [vies, sources, authorities] = await Promise.all([
        probeVies({ baseUrl: settings.VIES_URL, userAgent, timeoutMs }),
        probeSources({
          ...{ enabled, urls: readSourceUrls(settings), userAgent, timeoutMs, now },
          countSearch: countInDatabase(databaseUrlOf(env), settings.ENRICHMENT_PL_WHITE_LIST_DAILY_SEARCHES),
        }),
        tsaUrl === undefined
          ? []
          : probeAuthority({
              ...{ url: tsaUrl, hash: settings.TSA_HASH, userAgent, timeoutMs, now },
              trustedRoots: roots === undefined ? undefined : [roots],
            }).then(
              (probe) => [probe],
              (error: unknown) => {
                throw new SettingsError(`TSA_ROOTS: ${error instanceof Error ? error.message : String(error)}.`);
              },
            ),
      ]);
      const upstreams = [vies, ...sources, ...authorities];
      if (upstreams.some(({ ok }) => !ok)) throw new FailedCheck({ upstreams });
      return { upstreams };
    },
  },
});
