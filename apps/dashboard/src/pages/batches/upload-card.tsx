import { useNavigate } from '@tanstack/react-router';
import { readBatchFile } from '@vat/spreadsheet';
import type { FormEvent } from 'react';
import type { Batch } from '../../api/shapes.js';
import { useApiMutation, useIdempotencyKey } from '../../api/use-api-mutation.js';
import { Field } from '../../parts/form.js';
import { ErrorAlert } from '../../parts/states.js';
import { Card } from '../../parts/text.js';
import { UploadActions, useChosenFile } from './choose-file.js';
import { FilePreview } from './file-preview.js';

type Upload = { file: File; sheet: string | undefined; label: string; requester: string };

/** Chooses, previews and uploads a file. Nothing is sent before Upload is pressed. */
export const UploadCard = () => {
  const navigate = useNavigate();
  const sendOnce = useIdempotencyKey();
  const upload = useApiMutation(['batches'], (api, { file, sheet, label, requester }: Upload) => {
    const form = new FormData();
    // Fields precede the file: the service reads the form as a stream.
    if (label !== '') form.set('label', label);
    if (requester !== '') form.set('requester_vat_number', requester);
    if (sheet !== undefined) form.set('sheet', sheet);
    form.set('file', file, file.name);
    return sendOnce([file, sheet, label, requester], (headers) =>
      api.call<Batch>('POST', '/batches', { body: form, headers }),
    );
  });
  const { chosen, error, clear, zone } = useChosenFile(readBatchFile, {
    hint: 'Drop a file here or choose one. Excel workbooks (.xlsx) and CSV files of any tool work, up to 2 MiB and 10,000 rows.',
    onChange: upload.reset,
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!chosen) return;
    const fields = new FormData(event.currentTarget);
    const text = (name: string) => String(fields.get(name) ?? '').trim();
    upload.mutate(
      { file: chosen.file, sheet: chosen.sheet, label: text('label'), requester: text('requester') },
      { onSuccess: ({ batch_id }) => void navigate({ to: '/batches/$id', params: { id: batch_id } }) },
    );
  };
  return (
    <Card title="New batch">
      <form className="stack" onSubmit={submit}>
        {zone}
        <ErrorAlert error={error ?? upload.error} />
        {chosen && (
          <>
            <FilePreview name={chosen.file.name} batch={chosen.content} />
            <div className="inline-form">
              <Field label="Label" name="label" hint="A name that helps you find this batch." autoComplete="off" />
              <Field
                label="Requester"
                name="requester"
                hint="Your own VAT number, for rows without a requester."
                autoComplete="off"
              />
            </div>
            <UploadActions label="Upload" isPending={upload.isPending} onClear={clear} />
          </>
        )}
      </form>
    </Card>
  );
};
