import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import type { Change, Frequency, Watch } from '../../api/shapes.js';
import { useApiMutation, useDelete, useEdit } from '../../api/use-api-mutation.js';
import { showSaved, useApiList, useApiQuery } from '../../api/use-api-query.js';
import { Button } from '../../parts/button.js';
import { Confirm } from '../../parts/confirm.js';
import { PagedList } from '../../parts/data-table.js';
import { DetailPage } from '../../parts/detail-page.js';
import { Field, Form } from '../../parts/form.js';
import { ErrorAlert } from '../../parts/states.js';
import { Card, DateTime, Facts, IdText } from '../../parts/text.js';
import { Changing } from '../../session/session.js';
import { ChangeList } from '../watches/change-list.js';
import { FrequencySelect, PauseWatch } from '../watches/watches-page.js';

type WatchChange = { label?: string | null; frequency?: Frequency };

/** The label and frequency of a watch. They follow changes that are made elsewhere, except what the user has edited. */
const EditWatch = ({ watch }: { watch: Watch }) => {
  const queries = useQueryClient();
  const label = useEdit(watch.label ?? '');
  const frequency = useEdit(watch.frequency);
  const path = `/watches/${watch.watch_id}`;
  const update = useApiMutation(['watches'], async (api, body: WatchChange) => {
    const saved = await api.call<Watch>('PATCH', path, { body });
    await showSaved<Watch>(queries, 'watches', path, () => saved);
  });
  const submit = () => {
    const newLabel = label.value.trim() || null;
    // Unchanged fields are omitted. Otherwise a frequency that the plan no longer includes would prevent a new label.
    const change = {
      ...(newLabel === watch.label ? {} : { label: newLabel }),
      ...(frequency.value === watch.frequency ? {} : { frequency: frequency.value }),
    };
    const onSuccess = () => {
      label.follow(label.value);
      frequency.follow(frequency.value);
    };
    update.mutate(change, { onSuccess });
  };
  return (
    <Form className="inline-form" onSubmit={submit}>
      <Field label="Label" value={label.value} onChange={label.edit} autoComplete="off" />
      <FrequencySelect value={frequency.value} onChange={frequency.edit} />
      <Button type="submit" isPending={update.isPending}>
        Apply
      </Button>
      <ErrorAlert error={update.error} />
    </Form>
  );
};

const LastChecked = ({ watch: { last_checked_at: at, last_check_id: id, missed_since: missed } }: { watch: Watch }) => {
  if (at === null) return `not yet; the first check ${missed === null ? 'runs soon and ' : ''}is the baseline`;
  if (id === null) return <DateTime at={at} exact />;
  return (
    <Link to="/checks/$id" params={{ id }}>
      <DateTime at={at} exact />
    </Link>
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
  return (
    <DetailPage
      what="Watch"
      list="/watches"
      query={watch}
      head={({ vat_number: title, status, label }) => ({ title, status, lead: <span>{label}</span> })}
      actions={(data) => (
        <Changing>
          <PauseWatch watch={data} />
          <Confirm
            action="Delete"
            question="Delete this watch?"
            isPending={remove.isPending}
            onConfirm={() => remove.mutate()}
          >
            <p>This also deletes its history of changes. The checks are not deleted.</p>
          </Confirm>
        </Changing>
      )}
      error={remove.error}
    >
      {(data) => (
        <>
          <Card title="Schedule">
            <Facts
              facts={{
                'Last checked': <LastChecked watch={data} />,
                'Could not be checked since': data.missed_since && (
                  <>
                    <DateTime at={data.missed_since} exact />
                    {data.status === 'active' && '; tried every day'}. VIES gave no answer or refused the requester, the
                    month’s checks were used up, or the account was disabled.
                  </>
                ),
                'Next check':
                  data.status === 'paused' ? 'none while paused' : <DateTime at={data.next_check_at} exact />,
                Created: <DateTime at={data.created_at} />,
                'Watch ID': <IdText id={data.watch_id} what="the watch ID" />,
              }}
            />
            <Changing>
              <EditWatch watch={data} />
            </Changing>
          </Card>
          <Card title="Changes">
            <PagedList list={changes}>{(rows) => <ChangeList changes={rows} />}</PagedList>
          </Card>
        </>
      )}
    </DetailPage>
  );
};
