import { Link, useNavigate } from '@tanstack/react-router';
import type { Delivery } from '../../api/shapes.js';
import { useChange } from '../../api/use-change.js';
import { usePages } from '../../api/use-pages.js';
import { Button } from '../../parts/button.js';
import { Empty } from '../../parts/empty.js';
import { Listing } from '../../parts/listing.js';
import { Page } from '../../parts/page.js';
import { Refusal } from '../../parts/refusal.js';
import { DELIVERY_COLUMNS } from './delivery-columns.js';

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
