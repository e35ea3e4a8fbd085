import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { withPageLabels } from '../../api/errors.js';
import type { Coverage, CoverageLine } from '../../api/shapes.js';
import { useDelete } from '../../api/use-api-mutation.js';
import { useApiQuery } from '../../api/use-api-query.js';
import { Confirm } from '../../parts/confirm.js';
import { ApiTable, type Column } from '../../parts/data-table.js';
import { DetailPage } from '../../parts/detail-page.js';
import { DocumentLink } from '../../parts/document-link.js';
import { DownloadButton, DownloadLink } from '../../parts/download.js';
import { Select } from '../../parts/form.js';
import { count, counted, percentOf, shorten } from '../../parts/format.js';
import { Progress } from '../../parts/progress.js';
import { Empty } from '../../parts/states.js';
import { Card, DateTime, Facts, Status } from '../../parts/text.js';
import { Changing } from '../../session/session.js';
import { GapCheck } from './gap-check.js';

/** The statuses in the order of the bar, with its colour and what each means. */
const STATUSES = {
  covered: { tone: 'valid', text: 'covered' },
  stale: { tone: 'degraded', text: 'stale: the last check is too old' },
  weak: { tone: 'degraded', text: 'weak: in time, but of a lower grade' },
  invalid: { tone: 'invalid', text: 'invalid at the last check before' },
  missing: { tone: 'rest', text: 'missing: never checked before, or no usable number' },
} as const;
type StatusName = keyof typeof STATUSES;
const STATUS_NAMES = Object.keys(STATUSES) as StatusName[];

const Totals = ({ coverage }: { coverage: Coverage }) => {
  const { total, covered } = coverage;
  let start = 0;
  const parts = STATUS_NAMES.map((name) => {
    const width = (100 * coverage[name]) / Math.max(1, total);
    start += width;
    return <rect key={name} className={STATUSES[name].tone} x={start - width} width={width} height="1" />;
  });
  return (
    <Card title="Totals">
      <Progress
        label={`${count(covered)} of ${count(total)} supplies ${covered === 1 ? 'is' : 'are'} covered`}
        percentage={percentOf(covered, total)}
        parts={parts}
      />
      <ul className="legend">
        {STATUS_NAMES.map((name) => (
          <li key={name} className={STATUSES[name].tone}>
            {count(coverage[name])} {STATUSES[name].text}
          </li>
        ))}
      </ul>
      <Facts
        facts={{
          'Maximum age': `${counted(coverage.max_age_days, 'day', 'days')} before the supply`,
          'Minimum grade': coverage.min_grade,
          'Checks as of': <DateTime at={coverage.created_at} />,
          'Batch of the gaps': coverage.batch_id && (
            <Link to="/batches/$id" params={{ id: coverage.batch_id }}>
              {coverage.batch_id}
            </Link>
          ),
        }}
      />
    </Card>
  );
};

const LINE_COLUMNS: readonly Column<CoverageLine>[] = [
  { head: 'Line', figures: true, cell: ({ line }) => line },
  {
    head: 'VAT number',
    cell: ({ vat_number, input }) =>
      vat_number === null ? shorten(input) || <em>empty</em> : <span className="clipped">{vat_number}</span>,
  },
  {
    head: 'Supply',
    cell: ({ supply_date }) => (
      <time className="clipped" dateTime={supply_date}>
        {supply_date}
      </time>
    ),
  },
  { head: 'Status', cell: ({ status }) => <Status word={status} /> },
  {
    head: 'Check',
    cell: ({ check_id, checked_at, vat_number, error }) =>
      check_id && checked_at ? (
        <Link to="/checks/$id" params={{ id: check_id }}>
          <DateTime at={checked_at} />
        </Link>
      ) : vat_number === null ? (
        error && withPageLabels(error.message)
      ) : null,
  },
  { head: 'Grade', cell: ({ evidence_grade }) => evidence_grade && <span className="clipped">{evidence_grade}</span> },
  {
    head: 'Reference',
    cell: ({ reference, error }) => {
      if (reference !== null) return shorten(reference);
      return error?.code === 'INVALID_REFERENCE' ? withPageLabels(error.message) : null;
    },
  },
];

const ALL = 'all' as const;
const CHOICES = [ALL, ...STATUS_NAMES] as const;

/** One coverage: its totals, its lines by status, its files, and the check of its gaps. */
export const CoveragePage = () => {
  const { id } = useParams({ from: '/signed-in/coverage/$id' });
  const search = useSearch({ from: '/signed-in/coverage/$id' });
  const choice = CHOICES.find((name) => name === search.status) ?? ALL;
  const navigate = useNavigate({ from: '/coverage/$id' });
  const path = `/coverage/${encodeURIComponent(id)}`;
  const coverage = useApiQuery<Coverage>('coverage', path);
  const remove = useDelete('coverage', path, () => navigate({ to: '/coverage' }));
  return (
    <DetailPage
      what="Coverage"
      list="/coverage"
      query={coverage}
      head={(data) => ({
        title: data.label ?? data.file_name ?? 'Coverage',
        status: data.covered === data.total ? 'covered' : 'gaps',
        lead: (
          <>
            {data.label !== null && data.file_name} <DateTime at={data.created_at} />
          </>
        ),
      })}
      actions={(data) => (
        <>
          <Changing>{data.covered < data.total && <GapCheck coverage={data} />}</Changing>
          <DocumentLink path={`${path}/report.pdf`} document="report">
            Report (PDF)
          </DocumentLink>
          <DownloadLink path={`${path}/results.xlsx`}>Results (Excel)</DownloadLink>
          <DownloadLink path={`${path}/results.csv`}>Results (CSV)</DownloadLink>
          <DownloadButton
            path={`/exports/dossier.zip?coverage_id=${encodeURIComponent(id)}`}
            fileName={`dossier-${id}.zip`}
          >
            Dossier
          </DownloadButton>
          <Changing>
            <Confirm
              action="Delete"
              question="Delete this coverage?"
              isPending={remove.isPending}
              onConfirm={() => remove.mutate()}
            >
              <p>This also deletes its lines and files. The checks are not deleted.</p>
            </Confirm>
          </Changing>
        </>
      )}
      error={remove.error}
    >
      {(data) => (
        <>
          <Totals coverage={data} />
          <Card
            title="Supplies"
            hint="Days are days in UTC, so a check around midnight may count for the day before or after."
            actions={
              <Select
                label="Status"
                hideLabel
                value={choice}
                options={CHOICES.map((name) => ({ value: name, label: name }))}
                onChange={(chosen) =>
                  void navigate({ search: chosen === ALL ? {} : { status: chosen }, replace: true })
                }
              />
            }
          >
            <ApiTable
              label="Supplies"
              topic="coverage"
              path={`${path}/lines`}
              query={choice === ALL ? {} : { status: choice }}
              columns={LINE_COLUMNS}
              rowKey={({ line_id }) => line_id}
              empty={<Empty title={choice === ALL ? 'No supplies' : `No ${choice} supplies`} />}
            />
          </Card>
        </>
      )}
    </DetailPage>
  );
};
