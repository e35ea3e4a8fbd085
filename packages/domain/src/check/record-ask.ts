import type { CheckEntry, CheckOutcome } from './entry.js';

/** One ask, as it goes into the `checks` list. */
export type AskRecord = {
  source: 'vies' | 'vies_confirmation';
  outcome: CheckOutcome;
  code: string | null;
  startedAt: Date;
  endedAt: Date;
  backpressure: boolean;
  detail: string | null;
};

/**
 * The `checks` list with one more ask in it. A source has one entry, whatever the number of its asks: `attempts` counts
 * them, the times span them, the outcome is the latest. A time-out after a saturated ask stays `saturated`, since the
 * caller is owed the reason rather than a bare time-out (contract part 1 §7, rule 2).
 */
export const recordAsk = (entries: readonly CheckEntry[], ask: AskRecord): CheckEntry[] => {
  const earlier = entries.find((entry) => entry.source === ask.source);
  const keepsSaturation = ask.outcome === 'timeout' && earlier?.outcome === 'saturated';
  const startedAt = earlier?.started_at ?? ask.startedAt.toISOString();
  const code = keepsSaturation ? earlier?.code : ask.code;
  const detail = ask.detail ?? (keepsSaturation ? earlier?.detail : undefined);
  const entry: CheckEntry = {
    source: ask.source,
    outcome: keepsSaturation ? 'saturated' : ask.outcome,
    ...(code ? { code } : {}),
    attempts: (earlier?.attempts ?? 0) + 1,
    ...(ask.backpressure || earlier?.backpressure ? { backpressure: true as const } : {}),
    started_at: startedAt,
    duration_ms: Math.max(0, Math.round(ask.endedAt.getTime() - Date.parse(startedAt))),
    ...(detail ? { detail } : {}),
  };
  return [...entries.filter((other) => other.source !== ask.source), entry];
};
