import { Label } from 'react-aria-components/Label';
import { Meter } from 'react-aria-components/Meter';
import type { Usage } from '../../api/shapes.js';
import { useRead } from '../../api/use-read.js';
import { Card } from '../../parts/card.js';
import { count } from '../../parts/count.js';
import { Reading } from '../../parts/reading.js';

const dayOf = (at: string): string =>
  new Intl.DateTimeFormat(undefined, { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(at));

/** This month's checks against what the plan sells. */
export const UsageMeter = () => {
  const usage = useRead<Usage>('usage', '/usage', { every: 30_000 });
  return (
    <Card title="This month">
      <Reading of={usage}>
        {({ used, reserved, limit, plan, reset_at }) => {
          const share = limit === 0 ? 1 : (used + reserved) / limit;
          return (
            <>
              <Meter
                className={`usage ${share >= 1 ? 'bad' : share >= 0.8 ? 'warn' : ''}`}
                value={Math.min(limit, used)}
                maxValue={Math.max(1, limit)}
                valueLabel={`${count(used)} of ${count(limit)}`}
              >
                <p className="usage-figure">
                  <strong>{count(used)}</strong> <Label>of {count(limit)} checks used</Label>
                </p>
                <svg viewBox="0 0 100 1" preserveAspectRatio="none" className="progress-bar" aria-hidden="true">
                  <rect width={limit === 0 ? 0 : (100 * used) / limit} height="1" />
                  <rect
                    className="reserved"
                    x={limit === 0 ? 0 : (100 * used) / limit}
                    width={limit === 0 ? 0 : (100 * reserved) / limit}
                    height="1"
                  />
                </svg>
              </Meter>
              <p className="hint">
                {reserved > 0 &&
                  `${count(reserved)} more held for checks without an answer yet, those of batches and watches included. `}
                Plan <strong>{plan}</strong>; starts anew on {dayOf(reset_at)}.
              </p>
            </>
          );
        }}
      </Reading>
    </Card>
  );
};
