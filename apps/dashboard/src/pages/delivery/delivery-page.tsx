import { useNavigate, useParams } from '@tanstack/react-router';
import { isMissing } from '../../api/is-missing.js';
import type { DeliveryDetail } from '../../api/shapes.js';
import { useChange } from '../../api/use-change.js';
import { useRead } from '../../api/use-read.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { CopyButton } from '../../parts/copy-button.js';
import { Facts } from '../../parts/facts.js';
import { IdText } from '../../parts/id-text.js';
import { Moment } from '../../parts/moment.js';
import { NotFound } from '../../parts/not-found.js';
import { Page } from '../../parts/page.js';
import { Reading } from '../../parts/reading.js';
import { Refusal } from '../../parts/refusal.js';
import { Status } from '../../parts/status.js';
import { AttemptList } from './attempt-list.js';
import { SignatureHeaders } from './signature-headers.js';

/** One delivery: what was sent, every attempt to do so, and a way to send it again. */
export const DeliveryPage = () => {
  const { id } = useParams({ from: '/signed-in/deliveries/$id' });
  const navigate = useNavigate();
  const path = `/webhook/deliveries/${encodeURIComponent(id)}`;
  const delivery = useRead<DeliveryDetail>('deliveries', path);
  const resend = useChange(['deliveries'], (api, _input: undefined) =>
    api.call<{ delivery_id: string }>('POST', `${path}/resend`),
  );
  if (isMissing(delivery.error)) return <NotFound what="Delivery" list="/deliveries" />;
  return (
    <Page
      title={delivery.data?.event ?? 'Delivery'}
      lead={
        delivery.data && (
          <p className="lead-line">
            <Status word={delivery.data.status} />
            <Moment at={delivery.data.created_at} seconds />
          </p>
        )
      }
      actions={
        delivery.data && (
          <Button
            isPending={resend.isPending}
            onPress={() =>
              resend.mutate(undefined, {
                onSuccess: ({ delivery_id }) => void navigate({ to: '/deliveries/$id', params: { id: delivery_id } }),
              })
            }
          >
            Resend
          </Button>
        )
      }
    >
      <Refusal error={resend.error} />
      <Reading of={delivery}>
        {(data) => (
          <>
            <Card title="Attempts">
              <AttemptList delivery={data} />
            </Card>
            <Card
              title="Body"
              actions={<CopyButton text={JSON.stringify(data.body)} what="the body as it is sent" />}
              hint="Laid out for reading; over the wire it has no white space."
            >
              <pre className="code">{JSON.stringify(data.body, null, 2)}</pre>
            </Card>
            <SignatureHeaders delivery={data} />
            <Card title="Ids">
              <Facts
                facts={{
                  Delivery: <IdText id={data.delivery_id} what="the delivery's id" />,
                  Event: <IdText id={data.event_id} what="the event's id" />,
                }}
              />
            </Card>
          </>
        )}
      </Reading>
    </Page>
  );
};
