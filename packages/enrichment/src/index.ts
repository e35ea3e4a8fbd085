export { ANSWER_CAP_BYTES } from './call-source.js';
export { createEnrichmentSources, type EnrichmentSourcesDeps } from './create-enrichment-sources.js';
export { DEFAULT_ENRICHMENT_URLS } from './default-enrichment-urls.js';
export { probeSources, type SourceProbe } from './probe-sources.js';
export { readEnabledSources, readSourceUrls } from './read-source-settings.js';
