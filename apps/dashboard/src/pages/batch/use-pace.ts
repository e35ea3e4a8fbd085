import { useEffect, useRef, useState } from 'react';

type Sample = { at: number; ended: number };

/** The pace is that of the last while: a batch stands still while a member state is away, and runs when it is back. */
const WINDOW_MS = 30_000;

/** Lines a second lately; null until that can be told. Before there is a past on this page, it is the pace since the start. */
export const usePace = (ended: number, startedAt: string, isRunning: boolean): number | null => {
  const samples = useRef<Sample[]>([]);
  const [rate, setRate] = useState<number | null>(null);
  useEffect(() => {
    if (!isRunning) return;
    const now = Date.now();
    if (samples.current.length === 0) {
      samples.current.push({ at: Math.max(Date.parse(startedAt), now - WINDOW_MS), ended: 0 });
      const since = (now - Date.parse(startedAt)) / 1_000;
      // Only what began within the window has gone at one pace so far.
      if (since > 0 && since < WINDOW_MS / 1_000) setRate(ended / since);
      else samples.current = [];
    }
    samples.current.push({ at: now, ended });
    samples.current = samples.current.filter(({ at }) => at >= now - WINDOW_MS);
    const [first] = samples.current;
    if (first && now - first.at > 1_000) setRate(((ended - first.ended) / (now - first.at)) * 1_000);
  }, [ended, startedAt, isRunning]);
  return rate;
};
