import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { addressOf } from '../../api/create-api.js';
import { isMissing } from '../../api/is-missing.js';
import type { Batch, BatchLine } from '../../api/shapes.js';
import { usePages } from '../../api/use-pages.js';
import { useRead } from '../../api/use-read.js';
import { useRemoval } from '../../api/use-removal.js';
import { Card } from '../../parts/card.js';
import { Choice } from '../../parts/choice.js';
import { Confirm } from '../../parts/confirm.js';
import { Empty } from '../../parts/empty.js';
import { Listing } from '../../parts/listing.js';
import { Moment } from '../../parts/moment.js';
import { NotFound } from '../../parts/not-found.js';
import { Page } from '../../parts/page.js';
import { Reading } from '../../parts/reading.js';
import { Refusal } from '../../parts/refusal.js';
import { Status } from '../../parts/status.js';
import { BatchProgress } from './batch-progress.js';
import { LINE_COLUMNS } from './line-columns.js';

const WHILE_RUNNING_MS = 1_500;

const STATUSES = [
  { value: '', label: 'all' },
  { value: 'queued', label: 'queued' },
  { value: 'done', label: 'done' },
  { value: 'failed', label: 'failed' },
] as const;

/** One batch: how far it is, its lines by status, its results. */
export const BatchPage = () => {
  const { id } = useParams({ from: '/signed-in/batches/$id' });
  const { status = '' } = useSearch({ from: '/signed-in/batches/$id' });
  const navigate = useNavigate({ from: '/batches/$id' });
  const path = `/batches/${encodeURIComponent(id)}`;
  const batch = useRead<Batch>('batches', path, {
    every: (data) => (data?.status === 'completed' ? false : WHILE_RUNNING_MS),
  });
  const lines = usePages<BatchLine>('batches', `${path}/lines`, { status });
  const remove = useRemoval('batches', path, () => navigate({ to: '/batches' }));
  const { data } = batch;
  if (isMissing(batch.error)) return <NotFound what="Batch" list="/batches" />;
  return (
    <Page
      title={data ? (data.label ?? data.file_name ?? 'Batch') : 'Batch'}
      lead={
        data && (
          <p className="lead-line">
            <Status word={data.status} />
            {data.label !== null && data.file_name} <Moment at={data.created_at} />
          </p>
        )
      }
      actions={
        data && (
          <>
            <a className="button primary" href={addressOf(`${path}/results.csv`)} download>
              Download results
            </a>
            <a
              className="button"
              href={addressOf(`${path}/results.csv`, { delimiter: ';', bom: true })}
              download
              title="With semicolons and a byte order mark, as European Excel opens it"
            >
              For Excel
            </a>
            <Confirm action="Delete" question="Delete this batch?" onConfirm={() => remove.mutate()}>
              <p>Its lines and the results file go. The checks it made stay.</p>
            </Confirm>
          </>
        )
      }
    >
      <Refusal error={remove.error} />
      <Reading of={batch}>{(read) => <BatchProgress batch={read} />}</Reading>
      {data && (
        <Card
          title="Lines"
          actions={
            <Choice
              label="Status"
              hideLabel
              value={status as (typeof STATUSES)[number]['value']}
              options={STATUSES}
              onChange={(chosen) => void navigate({ search: chosen === '' ? {} : { status: chosen }, replace: true })}
            />
          }
        >
          <Listing
            label="Lines"
            list={lines}
            columns={LINE_COLUMNS}
            rowKey={({ line_id }) => line_id}
            empty={<Empty title={status === '' ? 'No lines' : `No lines are ${status}`} />}
          />
        </Card>
      )}
    </Page>
  );
};
