import { Link } from '@tanstack/react-router';
import { useId } from 'react';
import type { Overview } from '../../api/shapes.js';
import { Card } from '../../parts/card.js';
import { count } from '../../parts/count.js';

type FigureProps = { value: number; text: string; to: '/checks' | '/batches' | '/deliveries'; isBad?: boolean };

const Figure = ({ value, text, to, isBad = false }: FigureProps) => {
  const id = useId();
  return (
    <li className={isBad ? 'bad' : undefined}>
      <span id={id}>
        <strong>{count(value)}</strong> {text}
      </span>
      {value > 0 && (
        <Link to={to} aria-describedby={id}>
          View
        </Link>
      )}
    </li>
  );
};

/** What is under way and what needs a look, each leading to where it is. */
export const Figures = ({ overview }: { overview: Overview }) => (
  <Card title="Under way">
    <ul className="figures-row">
      <Figure value={overview.pending_requests} text="pending requests" to="/checks" />
      <Figure value={overview.active_batches} text="active batches" to="/batches" />
      <Figure
        value={overview.failed_deliveries}
        text="failed deliveries in seven days"
        to="/deliveries"
        isBad={overview.failed_deliveries > 0}
      />
    </ul>
  </Card>
);
