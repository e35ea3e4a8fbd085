import { useNavigate } from '@tanstack/react-router';
import { AppError } from '@vat/domain/errors';
import { type BatchFile, type Repair, type RepairKind, readBatchFile } from '@vat/spreadsheet';
import { type FormEvent, useId, useRef, useState } from 'react';
import { ApiError, type ErrorExtra } from '../../api/errors.js';
import type { Batch } from '../../api/shapes.js';
import { useApiMutation, useIdempotencyKey } from '../../api/use-api-mutation.js';
import { Button } from '../../parts/button.js';
import { type Column, DataTable } from '../../parts/data-table.js';
import { Field } from '../../parts/form.js';
import { count, shorten } from '../../parts/format.js';
import { ErrorAlert } from '../../parts/states.js';
import { Card, Facts } from '../../parts/text.js';

const REPAIR_TEXTS: Record<RepairKind, string> = {
  digits_lost: 'converted to scientific notation by a spreadsheet; these digits are lost',
  blanks_removed: 'unusual or invisible spaces removed',
  apostrophe_removed: 'leading apostrophe removed',
  formula_unwrapped: 'number extracted from a formula',
  decimals_removed: 'decimals removed',
  grouping_removed: 'thousands separators removed',
  country_name_read: 'country name converted to its code',
};

/** The repairs of cells by kind, each with an example. Losses come first. */
const RepairList = ({ repairs }: { repairs: readonly Repair[] }) => {
  if (repairs.length === 0) return <p className="hint">No repairs needed.</p>;
  const kinds = (Object.keys(REPAIR_TEXTS) as RepairKind[]).flatMap((kind) => {
    const found = repairs.filter((repair) => repair.kind === kind);
    const [example] = found;
    return example ? [{ kind, times: found.length, example }] : [];
  });
  return (
    <div>
      <h4>Repairs</h4>
      <ul className="repairs">
        {kinds.map(({ kind, times, example }) => (
          <li key={kind} className={kind === 'digits_lost' ? 'lost' : undefined}>
            <strong>{count(times)} ×</strong> {REPAIR_TEXTS[kind]}; line {example.line}:{' '}
            <code>{shorten(example.before)}</code>
            {example.after !== example.before && (
              <>
                {' '}
                → <code>{shorten(example.after)}</code>
              </>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
};

type Row = BatchFile['rows'][number];

const SHOWN_ROWS = 5;

const DELIMITERS: Record<string, string> = { ',': 'commas', ';': 'semicolons', '\t': 'tabs' };

const nameOf = ({ header }: BatchFile, column: number): string => {
  const name = header?.[column]?.trim();
  return name ? `“${shorten(name)}”` : `column ${column + 1}`;
};

const OTHERS = { country: 'Country', reference: 'Reference', requester: 'Requester' } as const;
type Other = keyof typeof OTHERS;

const othersOf = ({ columns }: BatchFile): { meaning: Other; column: number }[] =>
  (Object.keys(OTHERS) as Other[]).flatMap((meaning) => {
    const column = columns[meaning];
    return column === null ? [] : [{ meaning, column }];
  });

const columnsOf = (batch: BatchFile): Column<Row>[] => [
  { head: 'Line', figures: true, cell: ({ line }) => line },
  { head: 'VAT number', cell: ({ candidate }) => shorten(candidate) || <em>empty</em> },
  ...othersOf(batch).map(({ meaning }) => ({
    head: OTHERS[meaning],
    cell: (row: Row) => shorten(row[meaning] ?? '') || null,
  })),
];

const FilePreview = ({ name, batch }: { name: string; batch: BatchFile }) => {
  const used = Object.values(batch.columns).filter((column) => column !== null).length;
  const others = batch.width - used;
  return (
    <section className="preview" aria-label="Preview">
      <h3>Preview</h3>
      <Facts
        facts={{
          File: name,
          Rows: count(batch.rows.length),
          Format: `${batch.encoding.toUpperCase()}${batch.bom ? ' with byte order mark' : ''}, separated by ${DELIMITERS[batch.delimiter] ?? batch.delimiter}, ${batch.header ? 'with a header row' : 'without a header row'}`,
          'Rows above the header': batch.preamble > 0 ? `${count(batch.preamble)}, skipped` : null,
          'VAT numbers': `${nameOf(batch, batch.columns.candidate)}, recognised by ${batch.foundBy === 'header' ? 'its name' : 'its values'}`,
          ...Object.fromEntries(othersOf(batch).map(({ meaning, column }) => [OTHERS[meaning], nameOf(batch, column)])),
          'Other columns': others > 0 ? `${count(others)}, included in the results` : null,
        }}
      />
      <DataTable
        label="First rows"
        columns={columnsOf(batch)}
        rows={batch.rows.slice(0, SHOWN_ROWS)}
        rowKey={({ line }) => String(line)}
      />
      {batch.rows.length > SHOWN_ROWS && <p className="hint">and {count(batch.rows.length - SHOWN_ROWS)} more rows</p>}
      <RepairList repairs={batch.repairs} />
    </section>
  );
};

const MAX_BYTES = 2 * 1024 * 1024;

type ChosenFile = { file: File; batch: BatchFile };

/** Parses a file by the same rules as the service. Throws the {@link ApiError} that the service would return. */
const readChosenFile = async (file: File): Promise<ChosenFile> => {
  try {
    if (file.size > MAX_BYTES) throw new AppError('FILE_TOO_LARGE');
    return { file, batch: readBatchFile(new Uint8Array(await file.arrayBuffer())) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new ApiError(400, error.code, error.message, error.extra as ErrorExtra);
  }
};

type Upload = { file: File; label: string; requester: string };

/** Chooses, previews and uploads a file. Nothing is sent before Upload is pressed. */
export const UploadCard = () => {
  const navigate = useNavigate();
  const [chosen, setChosen] = useState<ChosenFile | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const sendOnce = useIdempotencyKey();
  const upload = useApiMutation(['batches'], (api, { file, label, requester }: Upload) => {
    const form = new FormData();
    // Fields precede the file: the service reads the form as a stream.
    if (label !== '') form.set('label', label);
    if (requester !== '') form.set('requester_vat_number', requester);
    form.set('file', file, file.name);
    return sendOnce([file, label, requester], (headers) =>
      api.call<Batch>('POST', '/batches', { body: form, headers }),
    );
  });
  const choose = async (file: File | undefined) => {
    upload.reset();
    setError(null);
    setChosen(null);
    if (!file) return;
    try {
      setChosen(await readChosenFile(file));
    } catch (caught) {
      setError(caught);
    }
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!chosen) return;
    const fields = new FormData(event.currentTarget);
    const text = (name: string) => String(fields.get(name) ?? '').trim();
    upload.mutate(
      { file: chosen.file, label: text('label'), requester: text('requester') },
      { onSuccess: ({ batch_id }) => void navigate({ to: '/batches/$id', params: { id: batch_id } }) },
    );
  };
  const clear = () => {
    if (input.current) input.current.value = '';
    void choose(undefined);
  };
  return (
    <Card title="New batch">
      <form className="stack" onSubmit={submit}>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: drag and drop needs a mouse; the file field works without one */}
        <div
          className={`drop ${isOver ? 'over' : ''}`}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={(event) => {
            event.preventDefault();
            setOver(false);
            void choose(event.dataTransfer.files[0]);
          }}
        >
          <label htmlFor={id}>CSV file</label>
          <input
            ref={input}
            id={id}
            type="file"
            accept=".csv,.tsv,.txt,text/csv,text/tab-separated-values,text/plain"
            onChange={(event) => void choose(event.target.files?.[0])}
          />
          <p className="hint">
            Drop a file here or choose one. CSV files from Excel and other tools work, up to 2 MiB and 10,000 rows.
          </p>
        </div>
        <ErrorAlert error={error ?? upload.error} />
        {chosen && (
          <>
            <FilePreview name={chosen.file.name} batch={chosen.batch} />
            <div className="inline-form">
              <Field label="Label" name="label" hint="A name that helps you find this batch." autoComplete="off" />
              <Field
                label="Requester"
                name="requester"
                hint="Your own VAT number, for rows without a requester."
                autoComplete="off"
              />
            </div>
            <div className="actions">
              <Button type="submit" variant="primary" isPending={upload.isPending}>
                Upload
              </Button>
              <Button variant="quiet" onPress={clear}>
                Choose another file
              </Button>
            </div>
          </>
        )}
      </form>
    </Card>
  );
};
