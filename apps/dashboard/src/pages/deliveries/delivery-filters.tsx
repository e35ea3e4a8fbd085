import type { Delivery } from '../../api/shapes.js';
import { useApiMutation, useIdempotencyKey } from '../../api/use-api-mutation.js';
import { Confirm } from '../../parts/confirm.js';
import { FilterForm } from '../../parts/filter-form.js';
import { PeriodFields, Select } from '../../parts/form.js';
import { count } from '../../parts/format.js';
import { ErrorAlert } from '../../parts/states.js';

/** Filters of `GET /webhook/deliveries`, as search parameters of the page. `to` is exclusive. */
type DeliveryFilterParams = { status?: string; event?: string; from?: string; to?: string };

const STATUSES: Record<Delivery['status'], string> = {
  pending: 'Pending',
  successful: 'Successful',
  failed: 'Failed',
};
const EVENTS: Record<Delivery['event'], string> = {
  'check.completed': 'Check completed',
  'check.failed': 'Check failed',
  'batch.completed': 'Batch completed',
  'watch.changed': 'Watch changed',
  'webhook.test': 'Test event',
};
const optionsOf = (labels: Record<string, string>) => [
  { value: '', label: 'All' },
  ...Object.entries(labels).map(([value, label]) => ({ value, label })),
];

const FILTERS = ['status', 'event', 'from', 'to'] as const;

type FiltersProps = { filters: DeliveryFilterParams; onChange: (filters: DeliveryFilterParams) => void };

/** The filters of the list of deliveries. */
export const DeliveryFilters = ({ filters, onChange }: FiltersProps) => (
  <FilterForm names={FILTERS} filters={filters} onChange={onChange}>
    <Select label="Status" name="status" defaultValue={filters.status ?? ''} options={optionsOf(STATUSES)} />
    <Select label="Event" name="event" defaultValue={filters.event ?? ''} options={optionsOf(EVENTS)} />
    <PeriodFields period={filters} />
  </FilterForm>
);

/** Resends the failed deliveries of the period of the filters. Without a complete period the list of failed ones says what to do. */
export const ResendFailed = ({ filters: { status, event, from, to } }: Pick<FiltersProps, 'filters'>) => {
  const sendOnce = useIdempotencyKey();
  const resend = useApiMutation(['deliveries'], (api) =>
    sendOnce([event, from, to], (headers) =>
      api.call<{ matched: number; queued: number }>('POST', '/webhook/deliveries/resend', {
        body: { status: 'failed', event, from, to },
        headers,
      }),
    ),
  );
  if (from === undefined || to === undefined) {
    return status === 'failed' && <p className="hint">To send failed events again, filter by From and Before.</p>;
  }
  return (
    <>
      <div className="actions">
        <Confirm
          action="Resend failed"
          question="Resend failed deliveries?"
          isPending={resend.isPending}
          onConfirm={() => resend.mutate()}
        >
          Every {event === undefined ? 'event' : `${event} event`} whose delivery failed in this period, and was not
          delivered later, is sent to your endpoint again.
        </Confirm>
      </div>
      {resend.data && (
        <p role="status">
          Failed deliveries: {count(resend.data.matched)}. Events sent again: {count(resend.data.queued)}.
        </p>
      )}
      <ErrorAlert error={resend.error} />
    </>
  );
};
