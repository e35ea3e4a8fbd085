export { createEnrichmentSources, readEnabledSources, readSourceUrls } from './create-enrichment-sources.js';
export { probeSources } from './probe-sources.js';
