export { ANSWER_CAP_BYTES } from './call-source.js';
export { createEnrichmentSources, type EnrichmentSourcesDeps } from './create-enrichment-sources.js';
export { DEFAULT_ENRICHMENT_URLS } from './default-enrichment-urls.js';
