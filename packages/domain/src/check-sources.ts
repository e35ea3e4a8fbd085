/** National registers called after the verdict; they never change `valid`. */
export const ENRICHMENT_SOURCES = [
  'pl_white_list',
  'cz_ares',
  'ro_anaf',
  'fr_recherche_entreprises',
  'fi_prh',
  'de_evatr',
  'gleif',
] as const;
export type EnrichmentSourceName = (typeof ENRICHMENT_SOURCES)[number];

/** All sources that a check's `checks` list can name. */
export const CHECK_SOURCES = ['syntax', 'vies', 'vies_confirmation', ...ENRICHMENT_SOURCES] as const;
export type CheckSource = (typeof CHECK_SOURCES)[number];
