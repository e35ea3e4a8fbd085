import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { isNotFound } from '../../api/errors.js';
import type { Change, Frequency, Watch } from '../../api/shapes.js';
import { useApiMutation, useDelete } from '../../api/use-api-mutation.js';
import { useApiList, useApiQuery } from '../../api/use-api-query.js';
import { Button } from '../../parts/button.js';
import { Confirm } from '../../parts/confirm.js';
import { Field, Select } from '../../parts/form.js';
import { ErrorAlert, Loading, NotFound, QueryView } from '../../parts/states.js';
import { Card, DateTime, Facts, IdText, Page, Status } from '../../parts/text.js';
import { ChangeList } from '../watches/change-list.js';
import { PauseWatch } from '../watches/watches-page.js';

/** Changes the label and the frequency of a watch. */
export const EditWatch = ({ watch }: { watch: Watch }) => {
  const [label, setLabel] = useState(watch.label ?? '');
  const [frequency, setFrequency] = useState<Frequency>(watch.frequency);
  const update = useApiMutation(['watches'], (api, body: { label?: string | null; frequency?: Frequency }) =>
    api.call<Watch>('PATCH', `/watches/${watch.watch_id}`, { body }),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const newLabel = label.trim() === '' ? null : label.trim();
    // Unchanged fields are omitted. Otherwise a frequency that the plan no longer includes would prevent a new label.
    update.mutate({
      ...(newLabel === watch.label ? {} : { label: newLabel }),
      ...(frequency === watch.frequency ? {} : { frequency }),
    });
  };
  return (
    <form className="inline-form" onSubmit={submit}>
      <Field label="Label" value={label} onChange={setLabel} autoComplete="off" />
      <Select
        label="Frequency"
        value={frequency}
        onChange={setFrequency}
        options={[
          { value: 'weekly', label: 'weekly' },
          { value: 'daily', label: 'daily' },
        ]}
      />
      <Button type="submit" isPending={update.isPending}>
        Apply
      </Button>
      <ErrorAlert error={update.error} />
    </form>
  );
};

/** One watch: its schedule and its changes. */
export const WatchPage = () => {
  const { id } = useParams({ from: '/signed-in/watches/$id' });
  const navigate = useNavigate();
  const path = `/watches/${encodeURIComponent(id)}`;
  const watch = useApiQuery<Watch>('watches', path);
  const changes = useApiList<Change>('watches', `${path}/changes`);
  const remove = useDelete('watches', path, () => navigate({ to: '/watches' }));
  if (isNotFound(watch.error)) return <NotFound what="Watch" list="/watches" />;
  return (
    <Page
      title={watch.data?.vat_number ?? 'Watch'}
      lead={
        watch.data && (
          <p className="lead-line">
            <Status word={watch.data.status} /> <span>{watch.data.label}</span>
          </p>
        )
      }
      actions={
        watch.data && (
          <>
            <PauseWatch watch={watch.data} />
            <Confirm action="Delete" question="Delete this watch?" onConfirm={() => remove.mutate()}>
              <p>Deleting a watch also deletes its history of changes. Checks stay.</p>
            </Confirm>
          </>
        )
      }
    >
      <ErrorAlert error={remove.error} />
      <QueryView query={watch}>
        {(data) => (
          <Card title="Schedule">
            <Facts
              facts={{
                'Last checked': data.last_checked_at ? (
                  data.last_check_id ? (
                    <Link to="/checks/$id" params={{ id: data.last_check_id }}>
                      <DateTime at={data.last_checked_at} seconds />
                    </Link>
                  ) : (
                    <DateTime at={data.last_checked_at} seconds />
                  )
                ) : (
                  'not yet; the first check runs soon and is the baseline'
                ),
                'Next check':
                  data.status === 'paused' ? 'none while paused' : <DateTime at={data.next_check_at} seconds />,
                Created: <DateTime at={data.created_at} />,
                'Watch ID': <IdText id={data.watch_id} what="the watch ID" />,
              }}
            />
            <EditWatch key={`${data.label} ${data.frequency}`} watch={data} />
          </Card>
        )}
      </QueryView>
      <Card title="Changes">
        {changes.data ? (
          <ChangeList changes={changes.data} />
        ) : changes.error ? (
          <ErrorAlert error={changes.error} onRetry={changes.refetch} />
        ) : (
          <Loading />
        )}
        {changes.hasNextPage && (
          <div className="more">
            <Button isPending={changes.isFetchingNextPage} onPress={() => void changes.fetchNextPage()}>
              Show more
            </Button>
          </div>
        )}
      </Card>
    </Page>
  );
};
