import { type FormEvent, useState } from 'react';
import type { Frequency, Watch } from '../../api/shapes.js';
import { useChange } from '../../api/use-change.js';
import { Button } from '../../parts/button.js';
import { Choice } from '../../parts/choice.js';
import { Field } from '../../parts/field.js';
import { Refusal } from '../../parts/refusal.js';

/** Changes the label and how often the number is asked about. */
export const AmendWatch = ({ watch }: { watch: Watch }) => {
  const [label, setLabel] = useState(watch.label ?? '');
  const [frequency, setFrequency] = useState<Frequency>(watch.frequency);
  const amend = useChange(['watches'], (api, body: { label?: string | null; frequency?: Frequency }) =>
    api.call<Watch>('PATCH', `/watches/${watch.watch_id}`, { body }),
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const wanted = label.trim() === '' ? null : label.trim();
    // What is named is judged: a frequency that the plan no longer sells stays, and must not keep the label from changing.
    amend.mutate({
      ...(wanted === watch.label ? {} : { label: wanted }),
      ...(frequency === watch.frequency ? {} : { frequency }),
    });
  };
  return (
    <form className="inline-form" onSubmit={submit}>
      <Field label="Label" value={label} onChange={setLabel} autoComplete="off" />
      <Choice
        label="Frequency"
        value={frequency}
        onChange={setFrequency}
        options={[
          { value: 'weekly', label: 'weekly' },
          { value: 'daily', label: 'daily' },
        ]}
      />
      <Button type="submit" isPending={amend.isPending}>
        Apply
      </Button>
      <Refusal error={amend.error} />
    </form>
  );
};
