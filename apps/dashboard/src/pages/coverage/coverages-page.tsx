import { useNavigate } from '@tanstack/react-router';
import { supplyDateOf } from '@vat/domain/supply-date';
import { type CoverageFile, namingErrors, type ReadOptions, readCoverageFile } from '@vat/spreadsheet';
import type { Coverage } from '../../api/shapes.js';
import { type Column, ListPage, nameColumn } from '../../parts/data-table.js';
import { Field, Select } from '../../parts/form.js';
import { count } from '../../parts/format.js';
import { Empty } from '../../parts/states.js';
import { Card, DateTime, Status } from '../../parts/text.js';
import { Changing } from '../../session/session.js';
import { FilePreview, nameOf } from '../batches/file-preview.js';
import { UploadForm } from '../batches/upload-form.js';

type Row = CoverageFile['rows'][number];

/** A file whose dates have been read. `isDayFirst`: in one of them the day could also be the month. */
type Supplies = CoverageFile & { isDayFirst: boolean };

const DAY_AND_MONTH = /^\s*(?:(\d\d?)[-/.]\s?(\d\d?)[-/.]|(\d\d)(\d\d)(?:19|20)\d\d\s*$)/;
const isDayFirst = ({ supplyDate }: Row): boolean => {
  const [first = 0, second = 0] = (DAY_AND_MONTH.exec(supplyDate) ?? []).slice(1).filter(Boolean).map(Number);
  return first !== second && first <= 12 && second <= 12;
};

/** Reads a file as the service does, with the dates of all its rows. */
const readSupplies = (bytes: Uint8Array, options: ReadOptions): Supplies => {
  const now = new Date();
  const file = readCoverageFile(bytes, options);
  const rows = namingErrors(file.source.format, () =>
    file.rows.map((row) => ({ ...row, supplyDate: supplyDateOf(row, now) })),
  );
  return { ...file, rows, isDayFirst: file.rows.some(isDayFirst) };
};

const DATE_COLUMN: Column<Row> = {
  head: 'Supply date',
  cell: ({ supplyDate }) => (
    // The date as it is understood, in words, so that a swapped day and month is noticed.
    <time dateTime={supplyDate}>
      {new Intl.DateTimeFormat(undefined, { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(supplyDate))}
    </time>
  ),
};

const GRADES = [
  { value: 'basic', label: 'basic: VIES says valid' },
  { value: 'named', label: 'named: name and address known' },
  { value: 'corroborated', label: 'corroborated: a register agrees' },
  { value: 'qualified', label: 'qualified: confirmed for you' },
] as const;
const CoverageUpload = () => {
  const navigate = useNavigate();
  return (
    <Card
      title="Were your supplies checked in time?"
      hint="Each supply is compared with the checks that this account has already made. Nothing is looked up."
    >
      <UploadForm<Supplies, Coverage>
        path="/coverage"
        read={readSupplies}
        hint="Drop a file here or choose one: an Excel workbook (.xlsx) or CSV file with the VAT number and the date of each supply, up to 2 MiB and 10,000 rows."
        action="Compare"
        preview={(name, file) => (
          <FilePreview
            name={name}
            batch={file}
            more={{
              facts: {
                'Supply dates': `${nameOf(file, file.dateColumn)}${file.isDayFirst ? ', day before month' : ''}`,
              },
              columns: [DATE_COLUMN],
            }}
          />
        )}
        fields={['label', 'max_age_days', 'min_grade']}
        onCreated={({ coverage_id }) => void navigate({ to: '/coverage/$id', params: { id: coverage_id } })}
      >
        <Field
          label="Maximum age in days"
          name="max_age_days"
          defaultValue="30"
          inputMode="numeric"
          hint="How old a check may be on the day of the supply, 1 to 366."
          autoComplete="off"
        />
        <Select label="Minimum evidence grade" name="min_grade" options={GRADES} />
        <Field label="Label" name="label" hint="A name that helps you find this result." autoComplete="off" />
      </UploadForm>
    </Card>
  );
};

const idOf = ({ coverage_id }: Coverage) => coverage_id;

const COLUMNS: readonly Column<Coverage>[] = [
  nameColumn('File', '/coverage/$id', idOf, ({ coverage_id, label, file_name }) => label ?? file_name ?? coverage_id),
  { head: 'Result', cell: ({ total, covered }) => <Status word={covered === total ? 'covered' : 'gaps'} /> },
  { head: 'Supplies', figures: true, cell: ({ total }) => count(total) },
  { head: 'Covered', figures: true, cell: ({ covered }) => count(covered) },
  { head: 'Gaps', figures: true, cell: ({ total, covered }) => count(total - covered) },
  { head: 'Created', cell: ({ created_at }) => <DateTime at={created_at} /> },
];

const EMPTY = (
  <Empty title="No coverages yet">
    <Changing>
      Choose an Excel workbook or a CSV file with the VAT number and the date of each supply. You will see which of them
      were checked in time.
    </Changing>
  </Empty>
);

/** Upload of a file with supplies, and the list of coverages. */
export const CoveragesPage = () => (
  <ListPage
    title="Coverage"
    label="Coverages"
    topic="coverage"
    path="/coverage"
    columns={COLUMNS}
    rowKey={idOf}
    empty={EMPTY}
  >
    <Changing>
      <CoverageUpload />
    </Changing>
  </ListPage>
);
