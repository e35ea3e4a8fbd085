import type { Batch } from '../../api/shapes.js';
import { Card } from '../../parts/card.js';
import { count } from '../../parts/count.js';
import { duration } from '../../parts/duration.js';
import { Progress } from '../../parts/progress.js';
import { usePace } from './use-pace.js';

const paceText = (rate: number): string => {
  const [figure, unit] = rate >= 1 ? [rate, 'second'] : [rate * 60, 'minute'];
  return `${new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 }).format(figure)} lines a ${unit}`;
};

const runningText = (rate: number | null, left: number): string =>
  rate === null || rate === 0
    ? 'Waiting for member states to answer; it goes on by itself.'
    : `${paceText(rate)}, about ${duration(Math.ceil(left / rate) * 1_000)} left.`;

/** How far a batch is, how fast it goes and how long it will take, and what came out so far. */
export const BatchProgress = ({ batch }: { batch: Batch }) => {
  const { status, total, done, failed, valid, invalid, created_at, completed_at } = batch;
  const ended = done + failed;
  const rate = usePace(ended, created_at, status !== 'completed');
  // Never 100 % before the end.
  const percentage = total === 0 ? 100 : Math.floor((100 * ended) / total);
  const share = (lines: number) => (100 * lines) / Math.max(1, total);
  return (
    <Card title="Progress">
      <Progress
        label={`${count(ended)} of ${count(total)} lines`}
        percentage={percentage}
        text={new Intl.NumberFormat(undefined, { style: 'percent' }).format(percentage / 100)}
        parts={
          <>
            <rect className="valid" width={share(valid)} height="1" />
            <rect className="invalid" x={share(valid)} width={share(invalid)} height="1" />
            <rect className="degraded" x={share(done)} width={share(failed)} height="1" />
          </>
        }
      />
      <ul className="legend">
        <li className="valid">{count(valid)} valid</li>
        <li className="invalid">{count(invalid)} invalid</li>
        <li className="degraded">{count(failed)} failed</li>
        <li className="rest">{count(total - ended)} queued</li>
      </ul>
      <p className="hint">
        {completed_at === null
          ? runningText(rate, total - ended)
          : `Took ${duration(Math.max(0, Date.parse(completed_at) - Date.parse(created_at)))}.`}
      </p>
    </Card>
  );
};
