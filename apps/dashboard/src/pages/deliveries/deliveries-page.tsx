import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { Delivery } from '../../api/shapes.js';
import { useApiMutation, useIsShown } from '../../api/use-api-mutation.js';
import { Button } from '../../parts/button.js';
import { type Column, ListPage, nameColumn } from '../../parts/data-table.js';
import { duration } from '../../parts/format.js';
import { Empty, ErrorAlert } from '../../parts/states.js';
import { DateTime, Status } from '../../parts/text.js';
import { Changing } from '../../session/session.js';
import { DeliveryFilters, ResendFailed } from './delivery-filters.js';

const idOf = ({ delivery_id }: Delivery) => delivery_id;

const COLUMNS: readonly Column<Delivery>[] = [
  nameColumn('Event', '/deliveries/$id', idOf, ({ event }) => event),
  { head: 'Status', cell: ({ status }) => <Status word={status} /> },
  {
    head: 'Last response',
    cell: ({ last_attempt }) => {
      if (last_attempt === null) return null;
      return last_attempt.status_code ?? <span className="clipped">{last_attempt.error}</span>;
    },
  },
  { head: 'Attempts', figures: true, cell: ({ attempts }) => attempts },
  {
    head: 'Duration',
    figures: true,
    cell: ({ last_attempt }) => (last_attempt === null ? null : duration(last_attempt.duration_ms)),
  },
  {
    head: 'Next attempt',
    cell: ({ next_attempt_at }) => (next_attempt_at ? <DateTime at={next_attempt_at} exact /> : null),
  },
  { head: 'Created', cell: ({ created_at }) => <DateTime at={created_at} exact /> },
];

const EMPTY = (
  <Empty
    title="No deliveries yet"
    action={
      <Changing>
        <Link to="/settings" hash="webhook" className="button">
          Set up your webhook
        </Link>
      </Changing>
    }
  >
    A webhook sends your server events about pending checks, batches and watches. Each delivery appears here with its
    attempts and the responses of your server.
  </Empty>
);

/** The deliveries to the webhook, newest first. The filters are part of the URL. */
export const DeliveriesPage = () => {
  const filters = useSearch({ from: '/signed-in/deliveries' });
  const navigate = useNavigate({ from: '/deliveries' });
  const isShown = useIsShown();
  const sendTest = useApiMutation(['deliveries'], async (api) => {
    const { delivery_id: id } = await api.call<{ delivery_id: string }>('POST', '/webhook/test');
    // Pending until the page of the delivery has loaded: another press would send a second event.
    if (isShown.current) await navigate({ to: '/deliveries/$id', params: { id } });
  });
  return (
    <ListPage
      title="Deliveries"
      topic="deliveries"
      path="/webhook/deliveries"
      query={filters}
      columns={COLUMNS}
      rowKey={idOf}
      empty={Object.keys(filters).length > 0 ? <Empty title="No deliveries match these filters" /> : EMPTY}
      actions={
        <Changing>
          <Button isPending={sendTest.isPending} onPress={() => sendTest.mutate()}>
            Send test event
          </Button>
        </Changing>
      }
    >
      <ErrorAlert error={sendTest.error} />
      <DeliveryFilters filters={filters} onChange={(search) => void navigate({ search, replace: true })} />
      <Changing>
        {/* The result is that of one period and event. */}
        <ResendFailed key={`${filters.from} ${filters.to} ${filters.event}`} filters={filters} />
      </Changing>
    </ListPage>
  );
};
