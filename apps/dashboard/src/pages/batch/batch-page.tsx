import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { withPageLabels } from '../../api/errors.js';
import type { Batch, BatchLine } from '../../api/shapes.js';
import { useDelete } from '../../api/use-api-mutation.js';
import { useApiQuery } from '../../api/use-api-query.js';
import { Confirm } from '../../parts/confirm.js';
import { ApiTable, type Column } from '../../parts/data-table.js';
import { DetailPage } from '../../parts/detail-page.js';
import { DownloadLink } from '../../parts/download.js';
import { Select } from '../../parts/form.js';
import { clockTime, count, countryName, duration, listOf, percentOf, shorten, timeUntil } from '../../parts/format.js';
import { Progress } from '../../parts/progress.js';
import { Empty } from '../../parts/states.js';
import { Card, DateTime, Status } from '../../parts/text.js';
import { Changing } from '../../session/session.js';

type Sample = { at: number; ended: number };

/** The rate covers recent time only: a batch stalls while a member state is unavailable. */
const WINDOW_MS = 20_000;
const POLL_INTERVAL_MS = 1_000;

/** Finished lines per second over the last {@link WINDOW_MS}, as observed by this page; null until there are enough samples. */
const useRate = (ended: number, startedAt: string, isRunning: boolean): number | null => {
  const latest = useRef(ended);
  latest.current = ended;
  const [rate, setRate] = useState<number | null>(null);
  useEffect(() => {
    if (!isRunning) return;
    const opened = Date.now();
    const started = Date.parse(startedAt);
    // For a batch that has just started, its start is the first sample.
    let samples: Sample[] = opened - started < WINDOW_MS ? [{ at: started, ended: 0 }] : [];
    const sample = () => {
      const now = Date.now();
      samples = [...samples, { at: now, ended: latest.current }].filter(({ at }) => at >= now - WINDOW_MS);
      const [first] = samples;
      if (first && now - first.at >= POLL_INTERVAL_MS) {
        setRate(((latest.current - first.ended) / (now - first.at)) * 1_000);
      }
    };
    sample();
    const timer = setInterval(sample, POLL_INTERVAL_MS);
    return () => clearInterval(timer);
  }, [startedAt, isRunning]);
  return rate;
};

const rateText = (rate: number): string => {
  const [figure, unit] = rate >= 1 ? [rate, 'second'] : [rate * 60, 'minute'];
  return `${new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 }).format(figure)} lines per ${unit}`;
};

/** What is known about the end of a batch that is not completed, a sentence each. */
const runningTexts = ({ eta, waiting_for }: Batch, rate: number | null): string[] => {
  const now = new Date();
  const at = eta === null ? null : new Date(eta);
  const states = listOf(waiting_for.map(countryName));
  return [
    at === null ? null : `Done at about ${clockTime(at, now)}, ${timeUntil(at, now)}.`,
    at === null && states === '' ? 'The time of completion is not known yet.' : null,
    states === '' ? null : `Waiting for ${states}: down or saturated now. The batch continues automatically.`,
    rate === null || rate === 0 ? null : `${rateText(rate)}.`,
  ].filter((text) => text !== null);
};

const BatchProgress = ({ batch }: { batch: Batch }) => {
  const { status, total, done, failed, valid, invalid, created_at, completed_at } = batch;
  const ended = done + failed;
  const rate = useRate(ended, created_at, status !== 'completed');
  const share = (lines: number) => (100 * lines) / Math.max(1, total);
  return (
    <Card title="Progress">
      <Progress
        label={`${count(ended)} of ${count(total)} lines`}
        percentage={percentOf(ended, total)}
        parts={
          <>
            <rect className="valid" width={share(valid)} height="1" />
            <rect className="invalid" x={share(valid)} width={share(invalid)} height="1" />
            <rect className="degraded" x={share(done)} width={share(failed)} height="1" />
          </>
        }
      />
      <ul className="legend">
        <li className="valid">{count(valid)} valid</li>
        <li className="invalid">{count(invalid)} invalid</li>
        <li className="degraded">{count(failed)} failed</li>
        <li className="rest">{count(total - ended)} queued</li>
      </ul>
      <p className="hint">
        {completed_at === null
          ? runningTexts(batch, rate).join(' ')
          : `Completed in ${duration(Math.max(0, Date.parse(completed_at) - Date.parse(created_at)))}.`}
      </p>
    </Card>
  );
};

const LINE_COLUMNS: readonly Column<BatchLine>[] = [
  { head: 'Line', figures: true, cell: ({ line }) => line },
  {
    head: 'VAT number',
    cell: ({ check_id, vat_number, input }) => {
      if (vat_number === null) return shorten(input) || <em>empty</em>;
      if (check_id === null) return <span className="clipped">{vat_number}</span>;
      return (
        <Link to="/checks/$id" params={{ id: check_id }} className="main-link">
          {vat_number}
        </Link>
      );
    },
  },
  { head: 'Input', cell: ({ input, vat_number }) => (input === vat_number ? null : shorten(input)) },
  { head: 'Reference', cell: ({ reference }) => (reference === null ? null : shorten(reference)) },
  { head: 'Result', cell: ({ status, verdict }) => <Status word={verdict ?? status} /> },
  { head: 'Name', cell: ({ name }) => (name === null ? null : shorten(name)) },
  {
    head: 'Error',
    cell: ({ error }) =>
      error === null ? null : (
        <>
          <code>{error.code}</code> {withPageLabels(error.message)}
        </>
      ),
  },
];

const WHILE_RUNNING_MS = 1_500;

/** The choices of the filter, with the parameters of the API that each stands for. */
const CHOICES = {
  all: {},
  valid: { valid: 'true' },
  invalid: { valid: 'false' },
  failed: { status: 'failed' },
  queued: { status: 'queued' },
} as const;
type Choice = keyof typeof CHOICES;
const CHOICE_NAMES = Object.keys(CHOICES) as Choice[];

/** One batch: its progress, its lines by result, its results file. */
export const BatchPage = () => {
  const { id } = useParams({ from: '/signed-in/batches/$id' });
  const search = useSearch({ from: '/signed-in/batches/$id' });
  const choice = CHOICE_NAMES.find((name) => JSON.stringify(CHOICES[name]) === JSON.stringify(search)) ?? 'all';
  const navigate = useNavigate({ from: '/batches/$id' });
  const path = `/batches/${encodeURIComponent(id)}`;
  const batch = useApiQuery<Batch>('batches', path, {
    every: (data) => (data?.status === 'completed' ? false : WHILE_RUNNING_MS),
  });
  const remove = useDelete('batches', path, () => navigate({ to: '/batches' }));
  return (
    <DetailPage
      what="Batch"
      list="/batches"
      query={batch}
      head={(data) => ({
        title: data.label ?? data.file_name ?? 'Batch',
        status: data.status,
        lead: (
          <>
            {data.label !== null && data.file_name} <DateTime at={data.created_at} />
          </>
        ),
      })}
      actions={() => (
        <>
          <DownloadLink primary path={`${path}/results.xlsx`}>
            Download results (Excel)
          </DownloadLink>
          <DownloadLink path={`${path}/results.csv`}>Download results (CSV)</DownloadLink>
          <Changing>
            <Confirm
              action="Delete"
              question="Delete this batch?"
              isPending={remove.isPending}
              onConfirm={() => remove.mutate()}
            >
              <p>This also deletes its lines and results file. The checks are not deleted.</p>
            </Confirm>
          </Changing>
        </>
      )}
      error={remove.error}
    >
      {(data) => (
        <>
          <BatchProgress batch={data} />
          <Card
            title="Lines"
            actions={
              <Select
                label="Result"
                hideLabel
                value={choice}
                options={CHOICE_NAMES.map((name) => ({ value: name, label: name }))}
                onChange={(chosen) => void navigate({ search: CHOICES[chosen], replace: true })}
              />
            }
          >
            <ApiTable
              label="Lines"
              topic="batches"
              path={`${path}/lines`}
              query={CHOICES[choice]}
              columns={LINE_COLUMNS}
              rowKey={({ line_id }) => line_id}
              empty={<Empty title={choice === 'all' ? 'No lines' : `No ${choice} lines`} />}
            />
          </Card>
        </>
      )}
    </DetailPage>
  );
};
