import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useApi } from '../../api/use-api.js';
import { Button } from '../../parts/button.js';
import { byteCount } from '../../parts/byte-count.js';
import { Card } from '../../parts/card.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { judgePeriod } from '../../parts/judge-period.js';
import { Progress } from '../../parts/progress.js';
import { Refusal } from '../../parts/refusal.js';
import { saveFile } from '../../parts/save-file.js';
import { readStream } from './read-stream.js';

const FILTERS = ['from', 'to', 'vat_number', 'reference'] as const;

type State = { kind: 'idle' } | { kind: 'running'; bytes: number } | { kind: 'done'; bytes: number };

/** Takes the account's evidence away as a file that verifies itself, and shows how much of it has arrived. */
export const ExportCard = () => {
  const api = useApi();
  const [state, setState] = useState<State>({ kind: 'idle' });
  const [error, setError] = useState<unknown>(null);
  const stop = useRef<AbortController | null>(null);
  // Nobody could cancel it any more, and it would keep the account from another one.
  useEffect(() => () => stop.current?.abort(), []);
  const run = async (query: Record<string, string>) => {
    stop.current = new AbortController();
    setError(null);
    setState({ kind: 'running', bytes: 0 });
    try {
      const { signal } = stop.current;
      const response = await api.send('GET', '/exports/dossier.zip', {
        query,
        signal,
        headers: { Accept: 'application/zip' },
      });
      const file = await readStream(response, (bytes) => setState({ kind: 'running', bytes }));
      saveFile(file, 'dossier.zip');
      setState({ kind: 'done', bytes: file.size });
    } catch (thrown) {
      setState({ kind: 'idle' });
      if (!stop.current.signal.aborted) setError(thrown);
    }
  };
  const clear = () => {
    if (state.kind === 'running') return;
    setError(null);
    setState({ kind: 'idle' });
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    const given = new FormData(event.currentTarget);
    const chosen = FILTERS.map((name) => [name, String(given.get(name) ?? '').trim()] as const);
    void run(Object.fromEntries(chosen.filter(([, value]) => value !== '')));
  };
  return (
    <Card
      title="Dossier"
      hint="Every check with its hashed bytes, the exchanges with the upstream, time-stamps, anchors and proofs. It holds what is needed to verify it offline: README.txt, verify.sh and verify.py."
    >
      <Form className="filters" onTry={clear} judge={judgePeriod} onSubmit={submit}>
        <Field label="From" name="from" type="date" />
        <Field label="Before" name="to" type="date" />
        <Field label="VAT number" name="vat_number" autoComplete="off" />
        <Field label="Reference" name="reference" autoComplete="off" />
        <div className="actions">
          <Button type="submit" look="primary" isDisabled={state.kind === 'running'}>
            Export dossier
          </Button>
          {state.kind === 'running' && (
            <Button look="quiet" onPress={() => stop.current?.abort()}>
              Cancel
            </Button>
          )}
        </div>
      </Form>
      <Refusal error={error} />
      {state.kind === 'running' && (
        <Progress
          label="Export"
          percentage={null}
          text={`${byteCount(state.bytes)} so far; leaving this page cancels it`}
        />
      )}
      {state.kind === 'done' && <p role="status">Exported dossier.zip, {byteCount(state.bytes)}.</p>}
    </Card>
  );
};
