import type { Batch } from '../../api/shapes.js';
import { Card } from '../../parts/card.js';
import { count } from '../../parts/count.js';
import { duration } from '../../parts/duration.js';
import { Progress } from '../../parts/progress.js';
import { usePace } from './use-pace.js';

const perSecond = (rate: number): string =>
  rate >= 1
    ? `${new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 }).format(rate)} lines a second`
    : `${new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 }).format(rate * 60)} lines a minute`;

/** How far a batch is, how fast it goes and how long it will take, and what came out so far. */
export const BatchProgress = ({ batch }: { batch: Batch }) => {
  const { status, total, done, failed, valid, invalid, created_at, completed_at } = batch;
  const ended = done + failed;
  const isRunning = status !== 'completed';
  const rate = usePace(ended, created_at, isRunning);
  const share = new Intl.NumberFormat(undefined, { style: 'percent' }).format(
    total === 0 ? 1 : Math.floor((100 * ended) / total) / 100,
  );
  return (
    <Card title="Progress">
      <Progress label={`${count(ended)} of ${count(total)} lines`} value={ended} max={total} text={share} />
      <p className="hint">
        {isRunning &&
          rate !== null &&
          rate > 0 &&
          `${perSecond(rate)}, about ${duration(((total - ended) / rate) * 1_000)} left. `}
        {isRunning && (rate === null || rate === 0) && 'Waiting for member states to answer; it goes on by itself. '}
        {!isRunning &&
          completed_at !== null &&
          `Took ${duration(Math.max(0, Date.parse(completed_at) - Date.parse(created_at)))}.`}
      </p>
      <svg viewBox="0 0 100 1" preserveAspectRatio="none" className="parts-bar" aria-hidden="true">
        <rect className="valid" width={(100 * valid) / Math.max(1, total)} height="1" />
        <rect
          className="invalid"
          x={(100 * valid) / Math.max(1, total)}
          width={(100 * invalid) / Math.max(1, total)}
          height="1"
        />
        <rect
          className="degraded"
          x={(100 * done) / Math.max(1, total)}
          width={(100 * failed) / Math.max(1, total)}
          height="1"
        />
      </svg>
      <ul className="legend">
        <li className="valid">{count(valid)} valid</li>
        <li className="invalid">{count(invalid)} invalid</li>
        <li className="degraded">{count(failed)} failed</li>
        <li className="rest">{count(total - ended)} queued</li>
      </ul>
    </Card>
  );
};
