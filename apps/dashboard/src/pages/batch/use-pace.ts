import { useEffect, useRef, useState } from 'react';

type Sample = { at: number; ended: number };

/** The pace is that of the last while: a batch stands still while a member state is away, and runs when it is back. */
const WINDOW_MS = 20_000;
const LOOK_EVERY_MS = 1_000;

/** Lines a second of the last while, from what this page saw; null until it has seen enough. */
export const usePace = (ended: number, startedAt: string, isRunning: boolean): number | null => {
  const latest = useRef(ended);
  latest.current = ended;
  const [rate, setRate] = useState<number | null>(null);
  useEffect(() => {
    if (!isRunning) return;
    const opened = Date.now();
    const started = Date.parse(startedAt);
    // A batch that has just begun was not seen from its beginning, but where it began is known.
    let samples: Sample[] = opened - started < WINDOW_MS ? [{ at: started, ended: 0 }] : [];
    const look = () => {
      const now = Date.now();
      samples = [...samples, { at: now, ended: latest.current }].filter(({ at }) => at >= now - WINDOW_MS);
      const [first] = samples;
      if (first && now - first.at >= LOOK_EVERY_MS) {
        setRate(((latest.current - first.ended) / (now - first.at)) * 1_000);
      }
    };
    look();
    const timer = setInterval(look, LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }, [startedAt, isRunning]);
  return rate;
};
