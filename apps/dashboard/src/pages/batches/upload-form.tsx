import { AppError } from '@vat/domain/errors';
import { type BatchFile, isArchive, type ReadOptions, readSheetNames } from '@vat/spreadsheet';
import { type FormEvent, type ReactNode, useId, useRef, useState } from 'react';
import { ApiError, type ErrorExtra } from '../../api/errors.js';
import { useApiMutation, useIdempotencyKey } from '../../api/use-api-mutation.js';
import { Button } from '../../parts/button.js';
import { DropZone } from '../../parts/drop-zone.js';
import { Form, filledFields, Select } from '../../parts/form.js';
import { ErrorAlert } from '../../parts/states.js';

const MAX_BYTES = 2 * 1024 * 1024;

/** The error as the service would return it. */
const asApiError = (error: unknown): unknown =>
  error instanceof AppError ? new ApiError(400, error.code, error.message, error.extra as ErrorExtra) : error;

/** Throws an Error for users when the file was changed since it was chosen, or is a folder that was dropped. */
const readBytes = async (file: File): Promise<Uint8Array> => {
  if (file.size > MAX_BYTES) throw new AppError('FILE_TOO_LARGE');
  const bytes = await file.arrayBuffer().catch(() => {
    throw new Error('The file cannot be read. It may have been changed or moved since you chose it: choose it again.');
  });
  return new Uint8Array(bytes);
};

/** The names of the sheets of a file; none when it is not a workbook or cannot be read, which reading it explains. */
const namesIn = (bytes: Uint8Array): string[] => {
  try {
    return isArchive(bytes) ? readSheetNames(bytes) : [];
  } catch {
    return [];
  }
};

/** What a file was read as: at least its format. */
type ReadFile = Pick<BatchFile, 'source'>;

type ChosenFile<Content> = {
  /** The file, the sheet that the user chose, and what `read` returned; null without a file, and for one that `read` refuses. */
  chosen: { file: File; sheet: string | undefined; content: Content } | null;
  error: unknown;
  clear: () => void;
  /** Where a file is dropped or chosen, and for a workbook with several sheets which of them. */
  zone: ReactNode;
};

/** A file as it is in memory. `sheets`: the names of its sheets; `shown`: the one that is read. */
type OpenFile = { file: File; bytes: Uint8Array; sheets: string[]; shown: string };

/**
 * Lets the user choose a file, which is read in the browser by the same rules as in the service. `onChange` is called for each
 * file and sheet before it is read.
 */
const useChosenFile = <Content extends ReadFile>(
  read: (bytes: Uint8Array, options: ReadOptions) => Content,
  { hint, onChange }: { hint: string; onChange: () => void },
): ChosenFile<Content> => {
  const [chosen, setChosen] = useState<ChosenFile<Content>['chosen']>(null);
  const [open, setOpen] = useState<OpenFile | null>(null);
  const [error, setError] = useState<unknown>(null);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const begin = (next: OpenFile | null): void => {
    onChange();
    setError(null);
    setChosen(null);
    setOpen(next);
  };
  const show = (next: OpenFile, sheet?: string): void => {
    begin(next);
    try {
      const content = read(next.bytes, { sheet });
      if (content.source.format === 'xlsx') setOpen({ ...next, shown: content.source.sheet });
      setChosen({ file: next.file, sheet, content });
    } catch (caught) {
      setError(asApiError(caught));
    }
  };
  // Counts the choices: an earlier file that takes longer to read must not replace a later one.
  const choices = useRef(0);
  const choose = async (file: File | undefined) => {
    choices.current += 1;
    const choice = choices.current;
    begin(null);
    if (!file) return;
    try {
      const bytes = await readBytes(file);
      if (choice !== choices.current) return;
      const sheets = namesIn(bytes);
      show({ file, bytes, sheets, shown: sheets[0] ?? '' });
    } catch (caught) {
      if (choice === choices.current) setError(asApiError(caught));
    }
  };
  const chooseSheet = (sheet: string): void => {
    if (open) show({ ...open, shown: sheet }, sheet);
  };
  const clear = () => {
    if (input.current) input.current.value = '';
    void choose(undefined);
  };
  const zone = (
    <DropZone onDrop={(file) => void choose(file)}>
      <label htmlFor={id}>CSV file or Excel workbook</label>
      <input
        ref={input}
        id={id}
        type="file"
        accept=".xlsx,.csv,.tsv,.txt,text/csv,text/tab-separated-values,text/plain"
        onChange={(event) => void choose(event.target.files?.[0])}
      />
      <p className="hint">{hint}</p>
      {open && open.sheets.length > 1 && (
        <Select
          label="Sheet"
          value={open.shown}
          options={open.sheets.map((name) => ({ value: name, label: name }))}
          onChange={chooseSheet}
        />
      )}
    </DropZone>
  );
  return { chosen, error, clear, zone };
};

type UploadFormProps<Content extends ReadFile, Created> = {
  path: '/batches' | '/coverage';
  read: (bytes: Uint8Array, options: ReadOptions) => Content;
  hint: string;
  /** The label of the button that uploads. */
  action: string;
  preview: (name: string, content: Content) => ReactNode;
  /** The names of the fields in `children`, as in the API. */
  fields: readonly string[];
  children: ReactNode;
  onCreated: (created: Created) => void;
};

/** Chooses, previews and uploads a file with its fields. Nothing is sent before the button is pressed. */
export const UploadForm = <Content extends ReadFile, Created>(props: UploadFormProps<Content, Created>) => {
  const { path, read, hint, action, preview, fields, children, onCreated } = props;
  const sendOnce = useIdempotencyKey();
  const topic = path === '/batches' ? 'batches' : 'coverage';
  const upload = useApiMutation([topic], async (api, { file, texts }: { file: File; texts: [string, string][] }) => {
    // Sending a file that cannot be read fails like a lost connection.
    await readBytes(file);
    const form = new FormData();
    // Fields precede the file: the service reads the form as a stream.
    for (const [name, text] of texts) form.set(name, text);
    form.set('file', file, file.name);
    return sendOnce([file, JSON.stringify(texts)], (headers) =>
      api.call<Created>('POST', path, { body: form, headers }),
    );
  });
  const { chosen, error, clear, zone } = useChosenFile(read, { hint, onChange: upload.reset });
  const submit = ({ currentTarget }: FormEvent<HTMLFormElement>) => {
    // After a success the next page is loading; another upload would be a second batch.
    if (!chosen || upload.isSuccess) return;
    const sheet = chosen.sheet === undefined ? {} : { sheet: chosen.sheet };
    const texts = Object.entries({ ...filledFields(currentTarget, fields), ...sheet }) as [string, string][];
    upload.mutate({ file: chosen.file, texts }, { onSuccess: onCreated });
  };
  return (
    <Form className="stack" onSubmit={submit}>
      {zone}
      <ErrorAlert error={error ?? upload.error} />
      {chosen && preview(chosen.file.name, chosen.content)}
      {/* Never removed: what was typed is for the next file, too, such as the corrected one. */}
      <div className="inline-form" hidden={!chosen}>
        {children}
      </div>
      {chosen && (
        <div className="actions">
          <Button type="submit" variant="primary" isPending={upload.isPending || upload.isSuccess}>
            {action}
          </Button>
          <Button variant="quiet" onPress={clear}>
            Choose another file
          </Button>
        </div>
      )}
    </Form>
  );
};
