import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { isMissing } from '../../api/is-missing.js';
import type { Change, Watch } from '../../api/shapes.js';
import { usePages } from '../../api/use-pages.js';
import { useRead } from '../../api/use-read.js';
import { useRemoval } from '../../api/use-removal.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Confirm } from '../../parts/confirm.js';
import { Facts } from '../../parts/facts.js';
import { IdText } from '../../parts/id-text.js';
import { Loading } from '../../parts/loading.js';
import { Moment } from '../../parts/moment.js';
import { NotFound } from '../../parts/not-found.js';
import { Page } from '../../parts/page.js';
import { Reading } from '../../parts/reading.js';
import { Refusal } from '../../parts/refusal.js';
import { Status } from '../../parts/status.js';
import { ChangeList } from '../watches/change-list.js';
import { PauseWatch } from '../watches/pause-watch.js';
import { AmendWatch } from './amend-watch.js';

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
