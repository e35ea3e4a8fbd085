import { AppError } from '@vat/domain/errors';
import { type ReactNode, useId, useRef, useState } from 'react';
import { ApiError, type ErrorExtra } from '../../api/errors.js';
import { Button } from '../../parts/button.js';

const MAX_BYTES = 2 * 1024 * 1024;

/** Parses a file by the same rules as the service. Throws the {@link ApiError} that the service would return. */
const readChosenFile = async <Content,>(file: File, read: (bytes: Uint8Array) => Content): Promise<Content> => {
  try {
    if (file.size > MAX_BYTES) throw new AppError('FILE_TOO_LARGE');
    return read(new Uint8Array(await file.arrayBuffer()));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new ApiError(400, error.code, error.message, error.extra as ErrorExtra);
  }
};

type ChosenFile<Content> = {
  /** The file and what `read` returned; null without a file, and for one that `read` refuses. */
  chosen: { file: File; content: Content } | null;
  error: unknown;
  clear: () => void;
  /** Where a file is dropped or chosen. */
  zone: ReactNode;
};

/** Lets the user choose a file, which is read in the browser. `onChange` is called for each file before it is read. */
export const useChosenFile = <Content,>(
  read: (bytes: Uint8Array) => Content,
  { hint, onChange }: { hint: string; onChange: () => void },
): ChosenFile<Content> => {
  const [chosen, setChosen] = useState<ChosenFile<Content>['chosen']>(null);
  const [error, setError] = useState<unknown>(null);
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const choose = async (file: File | undefined) => {
    onChange();
    setError(null);
    setChosen(null);
    if (!file) return;
    try {
      setChosen({ file, content: await readChosenFile(file, read) });
    } catch (caught) {
      setError(caught);
    }
  };
  const clear = () => {
    if (input.current) input.current.value = '';
    void choose(undefined);
  };
  const zone = (
    // biome-ignore lint/a11y/noStaticElementInteractions: drag and drop needs a mouse; the file field works without one
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
      <p className="hint">{hint}</p>
    </div>
  );
  return { chosen, error, clear, zone };
};

/** The buttons below a chosen file. `label`: what submitting the form does. */
export const UploadActions = (props: { label: string; isPending: boolean; onClear: () => void }) => (
  <div className="actions">
    <Button type="submit" variant="primary" isPending={props.isPending}>
      {props.label}
    </Button>
    <Button variant="quiet" onPress={props.onClear}>
      Choose another file
    </Button>
  </div>
);
