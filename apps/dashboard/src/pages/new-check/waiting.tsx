import { useEffect, useState } from 'react';
import { duration } from '../../parts/duration.js';

const LONG_MS = 5_000;

/** The state of a call that waits for its answer: since when, and what happens if it takes longer. */
export const Waiting = ({ vatNumber }: { vatNumber: string }) => {
  const [since] = useState(() => performance.now());
  const [now, setNow] = useState(since);
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), 100);
    return () => clearInterval(timer);
  }, []);
  const waited = now - since;
  return (
    <section className="card outcome waiting" aria-label="Waiting">
      <p className="outcome-head">
        <span className="spinner" aria-hidden="true" />
        <strong>Asking VIES about {vatNumber}</strong>
        <span aria-hidden="true" className="figures">
          {duration(Math.floor(waited / 100) * 100)}
        </span>
      </p>
      <p className="hint">
        {waited < LONG_MS
          ? 'Most member states answer within a second or two.'
          : 'The member state is slow or saturated and is asked again. Without an answer in time it goes on in the background; nothing is lost, and this page shows it.'}
      </p>
    </section>
  );
};
