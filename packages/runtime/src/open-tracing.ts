import { type Logger, throttledWarn, withoutLogContext } from './create-logger.js';
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
  const warn = throttledWarn(log, 'Traces were not exported.', () => new Date());
  // The spans are those of many requests. The timer of the exporter belongs to the one that ended first.
  const onExportFailure = (error: unknown): void => withoutLogContext(() => warn(error));
  const { openOtlpTracing } = await import('./otlp-tracing.js');
  return openOtlpTracing({ endpoint, service, onExportFailure });
};
