import { Link } from '@tanstack/react-router';
import type { Overview } from '../../api/shapes.js';
import { Card } from '../../parts/card.js';
import { count } from '../../parts/count.js';

/** What is under way and what needs a look, each leading to where it is. */
export const Figures = ({ overview }: { overview: Overview }) => (
  <Card title="Under way">
    <ul className="figures-row">
      <li>
        <Link to="/checks">
          <strong>{count(overview.pending_requests)}</strong> <span>pending requests</span>
        </Link>
      </li>
      <li>
        <Link to="/batches">
          <strong>{count(overview.active_batches)}</strong> <span>active</span>
          <span> batches</span>
        </Link>
      </li>
      <li className={overview.failed_deliveries > 0 ? 'bad' : ''}>
        <Link to="/deliveries">
          <strong>{count(overview.failed_deliveries)}</strong> <span>failed deliveries in seven days</span>
        </Link>
      </li>
    </ul>
  </Card>
);
