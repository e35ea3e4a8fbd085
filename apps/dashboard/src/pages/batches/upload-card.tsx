import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useId, useRef, useState } from 'react';
import type { Batch } from '../../api/shapes.js';
import { useChange } from '../../api/use-change.js';
import { useSameTry } from '../../api/use-same-try.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Field } from '../../parts/field.js';
import { Refusal } from '../../parts/refusal.js';
import { FilePreview } from './file-preview.js';
import { type ChosenFile, readChosenFile } from './read-chosen-file.js';

type Upload = { file: File; label: string; requester: string };

/** Choose a file, see what is read from it, send it. Nothing leaves the browser before Upload is pressed. */
export const UploadCard = () => {
  const navigate = useNavigate();
  const [chosen, setChosen] = useState<ChosenFile | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const id = useId();
  const sameTry = useSameTry();
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
