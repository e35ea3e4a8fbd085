import { Link, useNavigate } from '@tanstack/react-router';
import type { Delivery } from '../../api/shapes.js';
import { useChange } from '../../api/use-change.js';
import { usePages } from '../../api/use-read.js';
import { Button } from '../../parts/button.js';
import { type Column, Listing } from '../../parts/data-table.js';
import { duration } from '../../parts/format.js';
import { Empty, Refusal } from '../../parts/states.js';
import { Moment, Page, Status } from '../../parts/text.js';

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

/** The log of what was sent to the webhook, the newest first. */
export const DeliveriesPage = () => {
  const navigate = useNavigate();
  const deliveries = usePages<Delivery>('deliveries', '/webhook/deliveries');
  const sendTest = useChange(['deliveries'], (api, _input: undefined) =>
    api.call<{ delivery_id: string }>('POST', '/webhook/test'),
  );
  return (
    <Page
      title="Deliveries"
      actions={
        <Button
          isPending={sendTest.isPending}
          onPress={() =>
            sendTest.mutate(undefined, {
              onSuccess: ({ delivery_id: id }) => void navigate({ to: '/deliveries/$id', params: { id } }),
            })
          }
        >
          Send test event
        </Button>
      }
    >
      <Refusal error={sendTest.error} />
      <Listing
        label="Deliveries"
        list={deliveries}
        columns={DELIVERY_COLUMNS}
        rowKey={({ delivery_id }) => delivery_id}
        empty={
          <Empty
            title="Nothing was sent yet"
            action={
              <Link to="/settings" hash="webhook" className="button">
                Set up the webhook
              </Link>
            }
          >
            A webhook tells your server when a pending check, a batch or a watched number has news. Each delivery, with
            every attempt and what your server answered, is listed here.
          </Empty>
        }
      />
    </Page>
  );
};
