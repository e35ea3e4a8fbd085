import { useNavigate } from '@tanstack/react-router';
import { type BatchFile, readBatchFile } from '@vat/spreadsheet';
import type { Batch } from '../../api/shapes.js';
import { type Column, ListPage, nameColumn } from '../../parts/data-table.js';
import { Field } from '../../parts/form.js';
import { clockTime, count, countryName, listOf } from '../../parts/format.js';
import { Empty } from '../../parts/states.js';
import { Card, DateTime, Status } from '../../parts/text.js';
import { Changing } from '../../session/session.js';
import { FilePreview } from './file-preview.js';
import { UploadForm } from './upload-form.js';

/** When a batch was completed or will be, or what it waits for. */
const Completion = ({ batch: { completed_at, eta, waiting_for } }: { batch: Batch }) => {
  if (completed_at !== null) return <DateTime at={completed_at} />;
  if (eta !== null) return <time dateTime={eta}>{`at about ${clockTime(new Date(eta), new Date())}`}</time>;
  return waiting_for.length === 0 ? null : `waits for ${listOf(waiting_for.map(countryName))}`;
};

const idOf = ({ batch_id }: Batch) => batch_id;

const COLUMNS: readonly Column<Batch>[] = [
  nameColumn('Batch', '/batches/$id', idOf, ({ batch_id, label, file_name }) => label ?? file_name ?? batch_id),
  { head: 'Status', cell: ({ status }) => <Status word={status} /> },
  {
    head: 'Progress',
    figures: true,
    cell: ({ total, done, failed }) => `${count(done + failed)} of ${count(total)}`,
  },
  { head: 'Valid', figures: true, cell: ({ valid }) => count(valid) },
  { head: 'Invalid', figures: true, cell: ({ invalid }) => count(invalid) },
  { head: 'Failed', figures: true, cell: ({ failed }) => count(failed) },
  { head: 'Completed', cell: (batch) => <Completion batch={batch} /> },
  { head: 'Created', cell: ({ created_at }) => <DateTime at={created_at} /> },
];

const UploadCard = () => {
  const navigate = useNavigate();
  return (
    <Card title="New batch">
      <UploadForm<BatchFile, Batch>
        path="/batches"
        read={readBatchFile}
        hint="Drop a file here or choose one. Excel workbooks (.xlsx) and CSV files of any tool work, up to 2 MiB and 10,000 rows."
        action="Upload"
        preview={(name, file) => <FilePreview name={name} batch={file} />}
        fields={['label', 'requester_vat_number']}
        onCreated={({ batch_id }) => void navigate({ to: '/batches/$id', params: { id: batch_id } })}
      >
        <Field label="Label" name="label" hint="A name that helps you find this batch." autoComplete="off" />
        <Field
          label="Requester"
          name="requester_vat_number"
          hint="Your own VAT number, for rows without a requester."
          autoComplete="off"
        />
      </UploadForm>
    </Card>
  );
};

const EMPTY = (
  <Empty title="No batches yet">
    <Changing>
      Choose an Excel workbook or a CSV file above. One column with VAT numbers is enough. You will see a preview before
      anything is uploaded.
    </Changing>
  </Empty>
);

/** Upload of a file with VAT numbers, and the list of batches. */
export const BatchesPage = () => (
  <ListPage title="Batches" topic="batches" path="/batches" columns={COLUMNS} rowKey={idOf} empty={EMPTY}>
    <Changing>
      <UploadCard />
    </Changing>
  </ListPage>
);
