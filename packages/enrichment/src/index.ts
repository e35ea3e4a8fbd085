export { ANSWER_CAP_BYTES } from './call-source.js';
export {
  createEnrichmentSources,
  DEFAULT_ENRICHMENT_URLS,
  type EnrichmentSourcesDeps,
  readEnabledSources,
  readSourceUrls,
} from './create-enrichment-sources.js';
export { probeSources, type SourceProbe } from './probe-sources.js';
