import { useNavigate } from '@tanstack/react-router';
import { AppError } from '@vat/domain/errors';
import { type BatchFile, type Repair, type RepairKind, readBatchFile } from '@vat/spreadsheet';
import { type FormEvent, useId, useRef, useState } from 'react';
import { ApiError, type ErrorExtra } from '../../api/errors.js';
import type { Batch } from '../../api/shapes.js';
import { useChange, useIdempotencyKey } from '../../api/use-change.js';
import { Button } from '../../parts/button.js';
import { type Column, DataTable } from '../../parts/data-table.js';
import { Field } from '../../parts/form.js';
import { count, shorten } from '../../parts/format.js';
import { Refusal } from '../../parts/states.js';
import { Card, Facts } from '../../parts/text.js';

const DONE: Record<RepairKind, string> = {
  digits_lost: 'shortened by a spreadsheet to a power of ten; these digits are lost and cannot be repaired',
  blanks_removed: 'odd or invisible spaces taken out',
  apostrophe_removed: 'a leading apostrophe taken off',
  formula_unwrapped: 'a number taken out of a formula',
  decimals_removed: 'decimals taken off',
  grouping_removed: 'thousands separators taken out',
  country_name_read: 'a country’s name read as its code',
};

/** What was done to cells before they are used, by kind, each with an example; what cannot be repaired comes first. */
const RepairList = ({ repairs }: { repairs: readonly Repair[] }) => {
  if (repairs.length === 0) return <p className="hint">Nothing had to be repaired.</p>;
  const kinds = (Object.keys(DONE) as RepairKind[]).flatMap((kind) => {
    const found = repairs.filter((repair) => repair.kind === kind);
    const [example] = found;
    return example ? [{ kind, times: found.length, example }] : [];
  });
  return (
    <div>
      <h4>Repaired</h4>
      <ul className="repairs">
        {kinds.map(({ kind, times, example }) => (
          <li key={kind} className={kind === 'digits_lost' ? 'lost' : undefined}>
            <strong>{count(times)} ×</strong> {DONE[kind]}; line {example.line}: <code>{shorten(example.before)}</code>
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

const DELIMITERS: Record<string, string> = { ',': 'comma', ';': 'semicolon', '\t': 'tab' };

const nameOf = ({ header }: BatchFile, column: number): string => {
  const name = header?.[column]?.trim();
  return name ? `“${shorten(name)}”` : `column ${column + 1}`;
};

const OTHERS = { country: 'Country', reference: 'Reference', requester: 'Requester' } as const;
type Other = keyof typeof OTHERS;

/** The optional meanings that the file has a column for. */
const othersOf = ({ columns }: BatchFile): { meaning: Other; column: number }[] =>
  (Object.keys(OTHERS) as Other[]).flatMap((meaning) => {
    const column = columns[meaning];
    return column === null ? [] : [{ meaning, column }];
  });

const columnsOf = (batch: BatchFile): Column<Row>[] => [
  { head: 'Line', figures: true, cell: ({ line }) => line },
  { head: 'Number', cell: ({ candidate }) => shorten(candidate) || <em>empty</em> },
  ...othersOf(batch).map(({ meaning }) => ({
    head: OTHERS[meaning],
    cell: (row: Row) => shorten(row[meaning] ?? '') || null,
  })),
];

/** What was read from a file: which columns mean what, the first rows as they will be checked, and what was repaired. */
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
          Form: `${batch.encoding.toUpperCase()}${batch.bom ? ' with byte order mark' : ''}, separated by ${DELIMITERS[batch.delimiter] ?? batch.delimiter}, ${batch.header ? 'with a header row' : 'without a header row'}`,
          'Above the header':
            batch.preamble > 0 ? `${batch.preamble === 1 ? '1 row' : `${batch.preamble} rows`}, left out` : null,
          'VAT numbers': `${nameOf(batch, batch.columns.candidate)}, recognised by ${batch.foundBy === 'header' ? 'its name' : 'what its cells look like'}`,
          ...Object.fromEntries(othersOf(batch).map(({ meaning, column }) => [OTHERS[meaning], nameOf(batch, column)])),
          'Other columns': others > 0 ? `${count(others)}, kept for the results` : null,
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

/** Bytes a batch file may have. Source: contract part 1 §8. */
const MAX_BYTES = 2 * 1024 * 1024;

/** A file that was understood. */
type ChosenFile = { file: File; batch: BatchFile };

const refusal = (code: 'FILE_TOO_LARGE', status: number): ApiError => {
  const { message } = new AppError(code);
  return new ApiError(status, code, message);
};

/** Reads a file by the rules the service itself has. Throws what the service would refuse it with, before it is sent. */
const readChosenFile = async (file: File): Promise<ChosenFile> => {
  if (file.size > MAX_BYTES) throw refusal('FILE_TOO_LARGE', 413);
  try {
    const batch = readBatchFile(new Uint8Array(await file.arrayBuffer()));
    return { file, batch };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new ApiError(400, error.code, error.message, error.extra as ErrorExtra);
  }
};

type Upload = { file: File; label: string; requester: string };

/** Choose a file, see what is read from it, send it. Nothing leaves the browser before Upload is pressed. */
export const UploadCard = () => {
  const navigate = useNavigate();
  const [chosen, setChosen] = useState<ChosenFile | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const sameTry = useIdempotencyKey();
  const upload = useChange(['batches'], (api, { file, label, requester }: Upload) => {
    const form = new FormData();
    // Fields go first, so that they are known when the file begins.
    if (label !== '') form.set('label', label);
    if (requester !== '') form.set('requester_vat_number', requester);
    form.set('file', file, file.name);
    return sameTry([file, label, requester], (headers) => api.call<Batch>('POST', '/batches', { body: form, headers }));
  });
  const choose = async (file: File | undefined) => {
    upload.reset();
    setError(null);
    setChosen(null);
    if (!file) return;
    try {
      setChosen(await readChosenFile(file));
    } catch (thrown) {
      setError(thrown);
    }
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!chosen) return;
    const given = new FormData(event.currentTarget);
    const text = (name: string) => String(given.get(name) ?? '').trim();
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
        {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is for the mouse; the field inside is for everybody */}
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
            Drop one here or choose it: up to 2 MiB and 10,000 rows, as Excel and others export it.
          </p>
        </div>
        <Refusal error={error ?? upload.error} />
        {chosen && (
          <>
            <FilePreview name={chosen.file.name} batch={chosen.batch} />
            <div className="inline-form">
              <Field label="Label" name="label" hint="Your own name for the batch." autoComplete="off" />
              <Field
                label="Requester"
                name="requester"
                hint="Your own number, for rows that name none."
                autoComplete="off"
              />
            </div>
            <div className="actions">
              <Button type="submit" look="primary" isPending={upload.isPending}>
                Upload
              </Button>
              <Button look="quiet" onPress={clear}>
                Choose another
              </Button>
            </div>
          </>
        )}
      </form>
    </Card>
  );
};
