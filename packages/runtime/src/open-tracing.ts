import { type Logger, throttledWarn } from './create-logger.js';
import type { Tracing } from './tracing.js';

/**
 * Exports spans to `endpoint`, the base address of an OTLP receiver; null without one, and then nothing is loaded. A receiver that
 * is away or slow delays nothing: spans that it does not take are dropped, with a throttled warning.
 */
export const openTracing = async (
  endpoint: string | undefined,
  { service, log }: { service: string; log: Pick<Logger, 'warn'> },
): Promise<Tracing | null> => {
  if (endpoint === undefined) return null;
  const onExportFailure = throttledWarn(log, 'Traces were not exported.', () => new Date());
  const { openOtlpTracing } = await import('./otlp-tracing.js');
  return openOtlpTracing({ endpoint, service, onExportFailure });
};
