import { Link } from '@tanstack/react-router';
import type { Delivery } from '../../api/shapes.js';
import type { Column } from '../../parts/data-table.js';
import { duration } from '../../parts/duration.js';
import { Moment } from '../../parts/moment.js';
import { Status } from '../../parts/status.js';

/** How deliveries are listed. */
export const DELIVERY_COLUMNS: readonly Column<Delivery>[] = [
  {
    head: 'Event',
    cell: ({ delivery_id, event }) => (
      <Link to="/deliveries/$id" params={{ id: delivery_id }} className="main-link">
        {event}
      </Link>
    ),
  },
  { head: 'Status', cell: ({ status }) => <Status word={status} /> },
  {
    head: 'Last answer',
    cell: ({ last_attempt }) => {
      if (last_attempt === null) return null;
      return last_attempt.status_code ?? <span className="clipped">{last_attempt.error}</span>;
    },
  },
  { head: 'Attempts', figures: true, cell: ({ attempts }) => attempts },
  {
    head: 'Took',
    figures: true,
    cell: ({ last_attempt }) => (last_attempt === null ? null : duration(last_attempt.duration_ms)),
  },
  {
    head: 'Next try',
    cell: ({ next_attempt_at }) => (next_attempt_at ? <Moment at={next_attempt_at} seconds /> : null),
  },
  { head: 'Created', cell: ({ created_at }) => <Moment at={created_at} seconds /> },
];
