import { type FormEvent, useEffect, useRef, useState } from 'react';
import { useApi } from '../../api/create-api.js';
import type { Anchor } from '../../api/shapes.js';
import { usePages } from '../../api/use-read.js';
import { Button } from '../../parts/button.js';
import { DownloadButton } from '../../parts/confirm.js';
import { type Column, Listing } from '../../parts/data-table.js';
import { Field, Form } from '../../parts/form.js';
import { byteCount, count, saveFile, validatePeriod } from '../../parts/format.js';
import { Progress } from '../../parts/progress.js';
import { Empty, Findings, Refusal, useVerify } from '../../parts/states.js';
import { Card, Moment, Page } from '../../parts/text.js';
import { verifyChain } from '../../proof/verify-chain.js';

const COLUMNS: readonly Column<Anchor>[] = [
  { head: 'Anchor', figures: true, cell: ({ seq }) => <strong>{seq}</strong> },
  { head: 'Closed', cell: ({ closed_at }) => <Moment at={closed_at} seconds /> },
  { head: 'Leaves', figures: true, cell: ({ tree_size }) => count(tree_size) },
  {
    head: 'Root',
    cell: ({ root }) => (
      <code className="clipped" title={root}>
        {root}
      </code>
    ),
  },
  {
    head: 'Time-stamp',
    cell: ({ anchor_id, seq }) => (
      <DownloadButton small path={`/anchors/${anchor_id}.tsr`} fileName={`${seq}.tsr`}>
        Download
      </DownloadButton>
    ),
  },
];

/** Anchors are nobody's news: they come by the clock. */
const POLL_INTERVAL_MS = 15_000;

/** The chain of anchors: each fixes a tree of checks, names the one before, and is time-stamped. */
export const AnchorsCard = () => {
  const anchors = usePages<Anchor>('anchors', '/anchors', {}, POLL_INTERVAL_MS);
  const verify = useVerify(() => verifyChain(globalThis.crypto)(anchors.data ?? []));
  return (
    <Card
      title="Anchors"
      hint="Every so often the service closes the checks of all accounts into a tree and chains its root to the one before, so that none can be changed or slipped in later."
      actions={
        anchors.data &&
        anchors.data.length > 0 && (
          <Button small isPending={verify.isPending} onPress={() => verify.mutate()}>
            Verify the chain
          </Button>
        )
      }
    >
      <Refusal error={verify.error} />
      {verify.data && <Findings findings={verify.data} />}
      <Listing
        label="Anchors"
        list={anchors}
        columns={COLUMNS}
        rowKey={({ anchor_id }) => anchor_id}
        empty={<Empty title="No anchors yet">The first is closed once there are checks of live keys.</Empty>}
      />
    </Card>
  );
};

/** Reads an answer's body to its end and says after each piece how many bytes there are. */
export const readStream = async (response: Response, onBytes: (bytes: number) => void): Promise<Blob> => {
  if (!response.body) return response.blob();
  const reader = response.body.getReader();
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    bytes += value.byteLength;
    onBytes(bytes);
  }
  return new Blob(pieces, { type: response.headers.get('content-type') ?? 'application/octet-stream' });
};

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
      <Form className="filters" onTry={clear} judge={validatePeriod} onSubmit={submit}>
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

/** What proves the account's checks to others: the dossier to take away, and the chain of anchors that fixes them in time. */
export const EvidencePage = () => (
  <Page title="Evidence">
    <ExportCard />
    <AnchorsCard />
  </Page>
);
