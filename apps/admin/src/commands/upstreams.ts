import { connectDatabase, searchBudget } from '@vat/db';
import { type EnrichmentSourceName, userAgentOf } from '@vat/domain';
import { probeSources, readEnabledSources, readSourceUrls } from '@vat/enrichment';
import { probeAuthority } from '@vat/evidence/proof';
import { readAsSetting, readSettings, SettingsError } from '@vat/runtime';
import { probeVies } from '@vat/vies';
import type { Commands } from '../command.js';
import { FailedCheck, UsageError } from '../command.js';

const TIMEOUT_SECONDS = { min: 1, default: 10, max: 120 } as const;

const PROBE_SETTINGS = [
  'VIES_URL',
  'TSA_URL',
  'TSA_ROOTS',
  'TSA_HASH',
  'CONTACT_URL',
  'EGRESS_PROXY',
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
  if (text === undefined) return TIMEOUT_SECONDS.default * 1_000;
  const seconds = Number(text);
  if (!(seconds >= TIMEOUT_SECONDS.min && seconds <= TIMEOUT_SECONDS.max))
    throw new UsageError(`--timeout is a number of seconds, ${TIMEOUT_SECONDS.min} to ${TIMEOUT_SECONDS.max}.`);
  return seconds * 1_000;
};

const DATABASE_TIMEOUT_MS = 2_000;

/** Counts a search in the daily budget. Without a database no service shares the budget, so nothing is counted. */
const countInDatabase =
  (url: string | undefined, limit: number) => async (source: EnrichmentSourceName, day: string) => {
    if (!url) return;
    const { db, close } = connectDatabase({
      ...{ url, maxConnections: 1, applicationName: 'vat-admin' },
      ...{ queryTimeoutMs: DATABASE_TIMEOUT_MS, connectTimeoutMs: DATABASE_TIMEOUT_MS },
    });
    try {
      await searchBudget(db).take({ source, day, limit, accountId: null });
    } finally {
      await close();
    }
  };

const databaseUrlOf = (env: NodeJS.ProcessEnv): string | undefined =>
  env.DATABASE_URL || env.DATABASE_URL_FILE ? readSettings(env, 'admin', ['DATABASE_URL']).DATABASE_URL : undefined;

/** upstreams probe. It needs neither Postgres nor Redis, since it may be the first command that is run on a machine. */
export const upstreamCommands = (env: NodeJS.ProcessEnv, now: () => Date): Commands => ({
  'upstreams probe [--timeout SECONDS]': async ({ flags }) => {
    const settings = readSettings(env, 'admin', PROBE_SETTINGS);
    const { TSA_URL: tsaUrl, TSA_ROOTS: roots, EGRESS_PROXY: proxyUrl } = settings;
    const userAgent = userAgentOf(settings.CONTACT_URL);
    const timeoutMs = readTimeout(flags.timeout);
    const enabled = readAsSetting(() => readEnabledSources(settings.ENRICHMENT_SOURCES));
    const [vies, sources, authorities] = await Promise.all([
      probeVies({ baseUrl: settings.VIES_URL, userAgent, proxyUrl, timeoutMs, now }),
      probeSources({
        ...{ enabled, urls: readSourceUrls(settings), userAgent, proxyUrl, timeoutMs, now },
        countSearch: countInDatabase(databaseUrlOf(env), settings.ENRICHMENT_PL_WHITE_LIST_DAILY_SEARCHES),
      }),
      tsaUrl === undefined
        ? []
        : probeAuthority({
            ...{ url: tsaUrl, hash: settings.TSA_HASH, userAgent, proxyUrl, timeoutMs, now },
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
});
