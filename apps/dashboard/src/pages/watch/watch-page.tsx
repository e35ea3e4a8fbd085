import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { isMissing } from '../../api/errors.js';
import type { Change, Frequency, Watch } from '../../api/shapes.js';
import { useChange, useRemoval } from '../../api/use-change.js';
import { usePages, useRead } from '../../api/use-read.js';
import { Button } from '../../parts/button.js';
import { Confirm } from '../../parts/confirm.js';
import { Choice, Field } from '../../parts/form.js';
import { Loading, NotFound, Reading, Refusal } from '../../parts/states.js';
import { Card, Facts, IdText, Moment, Page, Status } from '../../parts/text.js';
import { ChangeList } from '../watches/change-list.js';
import { PauseWatch } from '../watches/watches-page.js';

/** Changes the label and how often the number is asked about. */
export const AmendWatch = ({ watch }: { watch: Watch }) => {
  const [label, setLabel] = useState(watch.label ?? '');
  const [frequency, setFrequency] = useState<Frequency>(watch.frequency);
  const amend = useChange(['watches'], (api, body: { label?: string | null; frequency?: Frequency }) =>
    api.call<Watch>('PATCH', `/watches/${watch.watch_id}`, { body }),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const wanted = label.trim() === '' ? null : label.trim();
    // What is named is judged: a frequency that the plan no longer sells stays, and must not keep the label from changing.
    amend.mutate({
      ...(wanted === watch.label ? {} : { label: wanted }),
      ...(frequency === watch.frequency ? {} : { frequency }),
    });
  };
  return (
    <form className="inline-form" onSubmit={submit}>
      <Field label="Label" value={label} onChange={setLabel} autoComplete="off" />
      <Choice
        label="Frequency"
        value={frequency}
        onChange={setFrequency}
        options={[
          { value: 'weekly', label: 'weekly' },
          { value: 'daily', label: 'daily' },
        ]}
      />
      <Button type="submit" isPending={amend.isPending}>
        Apply
      </Button>
      <Refusal error={amend.error} />
    </form>
  );
};

/** One watched number: when it is asked about, and every change that was seen. */
export const WatchPage = () => {
  const { id } = useParams({ from: '/signed-in/watches/$id' });
  const navigate = useNavigate();
  const path = `/watches/${encodeURIComponent(id)}`;
  const watch = useRead<Watch>('watches', path);
  const changes = usePages<Change>('watches', `${path}/changes`);
  const remove = useRemoval('watches', path, () => navigate({ to: '/watches' }));
  if (isMissing(watch.error)) return <NotFound what="Watch" list="/watches" />;
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
            <Confirm action="Delete" question="Stop watching this number?" onConfirm={() => remove.mutate()}>
              <p>Its history of changes goes. The checks it made stay.</p>
            </Confirm>
          </>
        )
      }
    >
      <Refusal error={remove.error} />
      <Reading of={watch}>
        {(data) => (
          <Card title="Schedule">
            <Facts
              facts={{
                'Last checked': data.last_checked_at ? (
                  data.last_check_id ? (
                    <Link to="/checks/$id" params={{ id: data.last_check_id }}>
                      <Moment at={data.last_checked_at} seconds />
                    </Link>
                  ) : (
                    <Moment at={data.last_checked_at} seconds />
                  )
                ) : (
                  'not yet; the first check comes soon and is the baseline'
                ),
                Next: data.status === 'paused' ? 'not while it is paused' : <Moment at={data.next_check_at} seconds />,
                Since: <Moment at={data.created_at} />,
                Watch: <IdText id={data.watch_id} what="the watch's id" />,
              }}
            />
            <AmendWatch key={`${data.label} ${data.frequency}`} watch={data} />
          </Card>
        )}
      </Reading>
      <Card title="Changes">
        {changes.data ? (
          <ChangeList changes={changes.data} />
        ) : changes.error ? (
          <Refusal error={changes.error} onRetry={changes.refetch} />
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
