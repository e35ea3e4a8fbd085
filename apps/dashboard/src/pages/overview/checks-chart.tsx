import { useState } from 'react';
import type { Overview } from '../../api/shapes.js';
import { count } from '../../parts/format.js';
import { NoChecksYet } from '../../parts/no-checks-yet.js';
import { Empty, QueryView } from '../../parts/states.js';
import { useNewestCheck } from '../welcome/welcome-page.js';

type Day = Overview['checks_per_day'][number];

const WIDTH = 600;
const HEIGHT = 140;
const VERDICTS = ['valid', 'invalid', 'malformed'] as const;

const totalOf = (day: Day): number => day.valid + day.invalid + day.malformed;
const dateOf = (day: Day, style: Intl.DateTimeFormatOptions): string =>
  new Intl.DateTimeFormat(undefined, { ...style, timeZone: 'UTC' }).format(new Date(`${day.date}T00:00:00Z`));

/** The next round number that is even, so that both grid lines are whole numbers. */
const roundUp = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  const candidates = [1, 1.2, 1.6, 2, 3, 4, 6, 8, 10, 12].map((step) => Math.round(step * power));
  return candidates.find((candidate) => candidate >= value && candidate % 2 === 0) ?? value;
};

/** The segments of the bar of one day, from the bottom. */
const partsOf = (day: Day, top: number) => {
  let below = 0;
  return VERDICTS.map((verdict) => {
    const height = (day[verdict] / top) * HEIGHT;
    below += height;
    return { verdict, height, y: HEIGHT - below };
  });
};

/** Shown without live checks in the period: an account may have older ones, or test checks. */
const NoLiveChecks = () => (
  <QueryView query={useNewestCheck()}>
    {({ data: newest }) =>
      newest.length === 0 ? (
        <NoChecksYet>Checks per day appear here, grouped by verdict.</NoChecksYet>
      ) : (
        <Empty title="No live checks in the last 30 days">Checks with a test key are not counted here.</Empty>
      )
    }
  </QueryView>
);

/** Checks per day by verdict: a bar chart, and a table for screen readers. */
export const ChecksChart = ({ days }: { days: Day[] }) => {
  const [hovered, setHovered] = useState<Day | null>(null);
  const max = Math.max(...days.map(totalOf), 0);
  if (max === 0) return <NoLiveChecks />;
  const top = roundUp(max);
  const step = WIDTH / days.length;
  const shown = hovered ?? days.at(-1);
  return (
    <figure className="chart">
      <figcaption>
        <ul className="legend">
          {VERDICTS.map((verdict) => (
            <li key={verdict} className={verdict}>
              {verdict}
            </li>
          ))}
        </ul>
        {shown && (
          <p className="chart-read" aria-hidden="true">
            <strong>{dateOf(shown, { dateStyle: 'medium' })}</strong>{' '}
            {VERDICTS.map((verdict) => `${count(shown[verdict])} ${verdict}`).join(' · ')}
          </p>
        )}
      </figcaption>
      <div className="chart-plot">
        <div className="chart-scale" aria-hidden="true">
          <span>{count(top)}</span>
          <span>{count(top / 2)}</span>
          <span>0</span>
        </div>
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          aria-hidden="true"
          onPointerLeave={() => setHovered(null)}
        >
          {[0, 0.5, 1].map((line) => (
            <line key={line} x1="0" x2={WIDTH} y1={HEIGHT * (1 - line)} y2={HEIGHT * (1 - line)} />
          ))}
          {days.map((day, index) => (
            <g
              key={day.date}
              onPointerEnter={() => setHovered(day)}
              className={day === hovered ? 'pointed' : undefined}
            >
              <rect className="ground" x={index * step} width={step} height={HEIGHT} />
              {partsOf(day, top).map(({ verdict, height, y }) => (
                <rect
                  key={verdict}
                  className={verdict}
                  x={index * step + step * 0.15}
                  width={step * 0.7}
                  y={y}
                  height={height}
                />
              ))}
            </g>
          ))}
        </svg>
      </div>
      <div className="chart-axis" aria-hidden="true">
        <span>{days[0] && dateOf(days[0], { day: 'numeric', month: 'short' })}</span>
        <span>today</span>
      </div>
      {/* The wrapper is needed: a table cannot be narrower than its content and would overflow small screens. */}
      <div className="visually-hidden">
        <table>
          <caption>Checks per day by verdict</caption>
          <thead>
            <tr>
              <th scope="col">Day</th>
              {VERDICTS.map((verdict) => (
                <th key={verdict} scope="col">
                  {verdict}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {days
              .filter((day) => totalOf(day) > 0)
              .map((day) => (
                <tr key={day.date}>
                  <th scope="row">{dateOf(day, { dateStyle: 'long' })}</th>
                  {VERDICTS.map((verdict) => (
                    <td key={verdict}>{day[verdict]}</td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
};
