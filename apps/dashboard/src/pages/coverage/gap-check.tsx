import { Link, useNavigate } from '@tanstack/react-router';
import { csvRow } from '@vat/spreadsheet';
import { useState } from 'react';
import type { Batch, Coverage } from '../../api/shapes.js';
import { useApiMutation, useIdempotencyKey, useIsShown } from '../../api/use-api-mutation.js';
import { Button } from '../../parts/button.js';
import { Question } from '../../parts/confirm.js';
import { counted } from '../../parts/format.js';
import { ErrorAlert } from '../../parts/states.js';
import { type Gap, uncoveredNumbers } from './uncovered-numbers.js';

const fileOf = (gaps: readonly Gap[]): Blob => {
  const rows = [
    ['vat_number', 'requester_vat_number'],
    ...gaps.map(({ vatNumber, requester }) => [vatNumber, requester ?? '']),
  ];
  return new Blob([rows.map((cells) => csvRow(cells)).join('')], { type: 'text/csv' });
};

/** Uploads the uncovered numbers of a coverage as a batch and shows it, after the user has read what that costs and covers. */
export const GapCheck = ({ coverage }: { coverage: Coverage }) => {
  const { coverage_id: id, batch_id: earlier } = coverage;
  const navigate = useNavigate();
  const sendOnce = useIdempotencyKey();
  const isShown = useIsShown();
  const [isOpen, setOpen] = useState(false);
  const read = useApiMutation([], async (api) => {
    const response = await api.send('GET', `/coverage/${id}/results.csv`, { headers: { Accept: 'text/csv' } });
    const gaps = uncoveredNumbers(await response.text());
    if (gaps.length > 0) return gaps;
    throw new Error('No gap has a VAT number that can be read. Correct the numbers in your file and compare it again.');
  });
  const upload = useApiMutation(['batches'], async (api, gaps: readonly Gap[]) => {
    const form = new FormData();
    // By characters, so that none is cut in half.
    form.set('label', [...`Gaps: ${coverage.label ?? coverage.file_name ?? id}`].slice(0, 100).join(''));
    form.set('file', fileOf(gaps), 'gaps.csv');
    const { batch_id } = await sendOnce([id], (headers) =>
      api.call<Batch>('POST', '/batches', { body: form, headers }),
    );
    // The user may have left the page.
    if (isShown.current) await navigate({ to: '/batches/$id', params: { id: batch_id } });
  });
  const openQuestion = () => {
    upload.reset();
    read.mutate(undefined, { onSuccess: () => setOpen(true) });
  };
  const gaps = read.data ?? [];
  const lacking = coverage.min_grade === 'qualified' ? gaps.filter(({ requester }) => requester === null).length : 0;
  return (
    <>
      <Button variant="primary" isPending={read.isPending || upload.isPending} onPress={openQuestion}>
        Check the gaps
      </Button>
      <ErrorAlert error={read.error ?? upload.error} />
      <Question
        isOpen={isOpen}
        onOpenChange={setOpen}
        variant="primary"
        action="Check"
        question={`Check ${counted(gaps.length, 'VAT number', 'VAT numbers')}?`}
        onConfirm={() => upload.mutate(gaps)}
      >
        {earlier !== null && (
          <p>
            A batch of these gaps was created with the coverage:{' '}
            <Link to="/batches/$id" params={{ id: earlier }}>
              view it
            </Link>
            .
          </p>
        )}
        <p>
          This creates a batch. Each well-formed number uses one check of your quota, even if you checked the gaps
          before.
        </p>
        <p>
          A check made now covers supplies from today (UTC) on. Earlier supplies stay uncovered. To see what is covered
          then, compare your file again.
        </p>
        {lacking > 0 && (
          <p>
            {counted(lacking, 'number has', 'numbers have')} no requester in your file. A check without one is never
            “qualified”.
          </p>
        )}
      </Question>
    </>
  );
};
