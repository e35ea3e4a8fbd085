import type { EnrichmentSourceName } from '@vat/domain';

/**
 * Where each national source lives unless ENRICHMENT_<NAME>_URL moves it: scheme, host and an optional prefix that goes
 * in front of the API's own path (`/api/search/nip/…`, `/app/v1/abfrage` …), which stays as its authority publishes it.
 */
export const DEFAULT_ENRICHMENT_URLS: Readonly<Record<EnrichmentSourceName, string>> = {
  pl_white_list: 'https://wl-api.mf.gov.pl',
  cz_ares: 'https://ares.gov.cz',
  ro_anaf: 'https://webservicesp.anaf.ro',
  fr_recherche_entreprises: 'https://recherche-entreprises.api.gouv.fr',
  fi_prh: 'https://avoindata.prh.fi',
  de_evatr: 'https://api.evatr.vies.bzst.de',
  gleif: 'https://api.gleif.org',
};
