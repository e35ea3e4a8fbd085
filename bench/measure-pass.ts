import { monitorEventLoopDelay } from 'node:perf_hooks';

/** Figures of one pass over all leaves. */
export type PassFigures = {
  seconds: number;
  /** Maximum memory above the memory before, in MB. */
  rss_mb: number;
  /** The longest turn of the event loop. */
  longest_turn_ms: number;
};

/** Runs `work` and measures it. */
export const measurePass = async <T>(work: () => Promise<T>): Promise<{ result: T; figures: PassFigures }> => {
  const before = process.memoryUsage.rss();
  let peak = before;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 10);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const startedAt = performance.now();
  const result = await work();
  const seconds = (performance.now() - startedAt) / 1_000;
  delay.disable();
  clearInterval(watch);
  return { result, figures: { seconds, rss_mb: (peak - before) / 1e6, longest_turn_ms: delay.max / 1e6 } };
};
