import { useNavigate } from '@tanstack/react-router';
import { supplyDateOf } from '@vat/domain/supply-date';
import { type CoverageFile, namingErrors, type ReadOptions, readCoverageFile } from '@vat/spreadsheet';
import { type FormEvent, useState } from 'react';
import type { Coverage } from '../../api/shapes.js';
import { useApiMutation, useIdempotencyKey } from '../../api/use-api-mutation.js';
import type { Column } from '../../parts/data-table.js';
import { Field, Form, Select } from '../../parts/form.js';
import { ErrorAlert } from '../../parts/states.js';
import { Card } from '../../parts/text.js';
import { UploadActions, useChosenFile } from '../batches/choose-file.js';
import { FilePreview, nameOf } from '../batches/file-preview.js';

type Row = CoverageFile['rows'][number];

/** Reads a file as the service does, with the dates of all its rows. */
const readSupplies = (bytes: Uint8Array, options: ReadOptions): CoverageFile => {
  const now = new Date();
  const file = readCoverageFile(bytes, options);
  const rows = namingErrors(file.source.format, () =>
    file.rows.map((row) => ({ ...row, supplyDate: supplyDateOf(row, now) })),
  );
  return { ...file, rows };
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
type Grade = (typeof GRADES)[number]['value'];

type Upload = { file: File; sheet: string | undefined; label: string; days: string; grade: Grade };

/** Chooses, previews and uploads a file of supplies. Nothing is sent before the button is pressed. */
export const CoverageUpload = () => {
  const navigate = useNavigate();
  const sendOnce = useIdempotencyKey();
  const [grade, setGrade] = useState<Grade>('basic');
  const upload = useApiMutation(['coverage'], (api, { file, sheet, label, days, grade: minGrade }: Upload) => {
    const form = new FormData();
    // Fields precede the file: the service reads the form as a stream.
    if (label !== '') form.set('label', label);
    if (days !== '') form.set('max_age_days', days);
    form.set('min_grade', minGrade);
    if (sheet !== undefined) form.set('sheet', sheet);
    form.set('file', file, file.name);
    return sendOnce([file, sheet, label, days, minGrade], (headers) =>
      api.call<Coverage>('POST', '/coverage', { body: form, headers }),
    );
  });
  const { chosen, error, clear, zone } = useChosenFile(readSupplies, {
    hint: 'Drop a file here or choose one: an Excel workbook (.xlsx) or CSV file with the VAT number and the date of each supply, up to 2 MiB and 10,000 rows.',
    onChange: upload.reset,
  });
  const submit = ({ currentTarget }: FormEvent<HTMLFormElement>) => {
    if (!chosen) return;
    const fields = new FormData(currentTarget);
    const text = (name: string) => String(fields.get(name) ?? '').trim();
    upload.mutate(
      { file: chosen.file, sheet: chosen.sheet, label: text('label'), days: text('days'), grade },
      { onSuccess: ({ coverage_id }) => void navigate({ to: '/coverage/$id', params: { id: coverage_id } }) },
    );
  };
  return (
    <Card
      title="Were your supplies checked in time?"
      hint="Each supply is compared with the checks that this account has already made. Nothing is looked up."
    >
      <Form className="stack" onSubmit={submit}>
        {zone}
        <ErrorAlert error={error ?? upload.error} />
        {chosen && (
          <>
            <FilePreview
              name={chosen.file.name}
              batch={chosen.content}
              more={{
                facts: { 'Supply dates': `${nameOf(chosen.content, chosen.content.dateColumn)}, day before month` },
                columns: [DATE_COLUMN],
              }}
            />
            <div className="inline-form">
              <Field
                label="Maximum age in days"
                name="days"
                defaultValue="30"
                inputMode="numeric"
                hint="How old a check may be on the day of the supply, 1 to 366."
                autoComplete="off"
              />
              <Select label="Minimum evidence grade" value={grade} options={GRADES} onChange={setGrade} />
              <Field label="Label" name="label" hint="A name that helps you find this result." autoComplete="off" />
            </div>
            <UploadActions label="Compare" isPending={upload.isPending} onClear={clear} />
          </>
        )}
      </Form>
    </Card>
  );
};
