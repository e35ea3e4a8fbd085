import { ENRICHMENT_SOURCES, type EnrichmentSourceName } from '@vat/domain';

/** The setting that moves a source. */
type UrlSetting = `ENRICHMENT_${Uppercase<EnrichmentSourceName>}_URL`;

/** ENRICHMENT_SOURCES as sources, in the catalogue's order. Throws an Error that names what is unknown. */
export const readEnabledSources = (text: string): EnrichmentSourceName[] => {
  const names = text.split(',').map((name) => name.trim());
  if (names.length === 1 && names[0] === 'none') return [];
  if (names.includes('all')) return [...ENRICHMENT_SOURCES];
  const unknown = names.filter((name) => !(ENRICHMENT_SOURCES as readonly string[]).includes(name));
  if (unknown.length > 0)
    throw new Error(
      `ENRICHMENT_SOURCES names ${unknown.join(', ')}; known are ${ENRICHMENT_SOURCES.join(', ')} and all.`,
    );
  return ENRICHMENT_SOURCES.filter((name) => names.includes(name));
};

/** The base URLs that the settings ENRICHMENT_<NAME>_URL give. */
export const readSourceUrls = (
  settings: Partial<Record<UrlSetting, string | undefined>>,
): Partial<Record<EnrichmentSourceName, string>> =>
  Object.fromEntries(
    ENRICHMENT_SOURCES.flatMap((name) => {
      const url = settings[`ENRICHMENT_${name.toUpperCase() as Uppercase<EnrichmentSourceName>}_URL`];
      return url === undefined ? [] : [[name, url]];
    }),
  );
