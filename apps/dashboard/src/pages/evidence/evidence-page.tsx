import { useMutation } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Query } from '../../api/create-api.js';
import type { Anchor } from '../../api/shapes.js';
import { useApiMutation } from '../../api/use-api-mutation.js';
import { useApiList } from '../../api/use-api-query.js';
import { Button } from '../../parts/button.js';
import { type Column, PagedTable } from '../../parts/data-table.js';
import { DownloadButton, fileNameOf } from '../../parts/download.js';
import { Field, Form, filledFields, PeriodFields, validatePeriod } from '../../parts/form.js';
import { byteCount, count, counted, saveFile } from '../../parts/format.js';
import { Progress } from '../../parts/progress.js';
import { Empty, ErrorAlert, Findings } from '../../parts/states.js';
import { Card, DateTime, Page } from '../../parts/text.js';
import { verifyChain } from '../../proof/verify.js';
import { VerifyCard } from './verify-card.js';

const COLUMNS: readonly Column<Anchor>[] = [
  { head: 'Anchor', figures: true, cell: ({ seq }) => <strong>{seq}</strong> },
  { head: 'Closed', cell: ({ closed_at }) => <DateTime at={closed_at} exact /> },
  { head: 'Checks', figures: true, cell: ({ tree_size }) => count(tree_size) },
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
      // Anchors are never deleted: one without a time-stamp waits for the authority.
      <DownloadButton
        small
        path={`/anchors/${anchor_id}.tsr`}
        fileName={`${seq}.tsr`}
        notFoundRemedy="Try again later."
      >
        Download
      </DownloadButton>
    ),
  },
];

/** Anchors cause no page updates, so they are polled. */
const POLL_INTERVAL_MS = 15_000;

/** The chain of anchors. Each covers a tree of checks, contains the hash of its predecessor and is time-stamped. */
const AnchorsCard = () => {
  const anchors = useApiList<Anchor>('anchors', '/anchors', {}, POLL_INTERVAL_MS);
  const verify = useMutation({ mutationFn: async () => verifyChain(anchors.data ?? []) });
  return (
    <Card
      title="Anchors"
      hint="Each anchor is the root of a Merkle tree of checks from all accounts, chained to the previous anchor. Changing or inserting a check later breaks the chain."
      actions={
        anchors.data &&
        anchors.data.length > 0 && (
          <Button small isPending={verify.isPending} onPress={() => verify.mutate()}>
            Verify chain
          </Button>
        )
      }
    >
      <ErrorAlert error={verify.error} />
      {verify.data && <Findings findings={verify.data} />}
      <PagedTable
        label="Anchors"
        list={anchors}
        columns={COLUMNS}
        rowKey={({ anchor_id }) => anchor_id}
        empty={<Empty title="No anchors yet">The first anchor appears after the first check with a live key.</Empty>}
      />
    </Card>
  );
};

/** Reads a response body to its end and reports the number of bytes after each chunk. */
const readBody = (response: Response, onBytes: (bytes: number) => void): Promise<Blob> => {
  let bytes = 0;
  const count = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      bytes += chunk.byteLength;
      onBytes(bytes);
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body?.pipeThrough(count), response).blob();
};

const FILTERS = ['from', 'to', 'vat_number', 'reference'] as const;

const ExportCard = () => {
  const [bytes, setBytes] = useState(0);
  const stop = useRef<AbortController | null>(null);
  // An account can run one export at a time, and this one could no longer be cancelled.
  useEffect(() => () => stop.current?.abort(), []);
  const dossier = useApiMutation([], async (api, query: Query) => {
    stop.current = new AbortController();
    const { signal } = stop.current;
    setBytes(0);
    const headers = { Accept: 'application/zip' };
    const response = await api.send('GET', '/exports/dossier.zip', { query, signal, headers });
    // With its time, so that several exports have different names.
    const name = fileNameOf(response) ?? 'dossier.zip';
    saveFile(await readBody(response, setBytes), name);
    return { name, checks: Number(response.headers.get('X-Dossier-Checks')) };
  });
  return (
    <Card
      title="Dossier"
      hint="A zip file with every check, the requests and responses behind it, time-stamps, anchors and proofs. Verify it below, or offline as its README.txt explains."
    >
      <Form
        className="filters"
        onBeforeSubmit={dossier.reset}
        validate={validatePeriod}
        onSubmit={({ currentTarget }) => dossier.mutate(filledFields(currentTarget, FILTERS))}
      >
        <PeriodFields />
        <Field label="VAT number" name="vat_number" autoComplete="off" />
        <Field label="Reference" name="reference" autoComplete="off" />
        <div className="actions">
          <Button type="submit" variant="primary" isPending={dossier.isPending}>
            Export dossier
          </Button>
          {dossier.isPending && (
            <Button variant="quiet" onPress={() => stop.current?.abort()}>
              Cancel
            </Button>
          )}
        </div>
      </Form>
      <ErrorAlert error={stop.current?.signal.aborted ? null : dossier.error} />
      {dossier.isPending && (
        <Progress
          label="Export"
          percentage={null}
          text={`${byteCount(bytes)} downloaded. Leaving this page cancels the export.`}
        />
      )}
      {dossier.isSuccess && (
        <p role="status">
          Exported {dossier.data.name} ({counted(dossier.data.checks, 'check', 'checks')}, {byteCount(bytes)}).
          {dossier.data.checks === 0 && ' No check matches.'}
        </p>
      )}
    </Card>
  );
};

/** Evidence of the account: the dossier, its verification, and the anchors. */
export const EvidencePage = () => (
  <Page title="Evidence">
    <ExportCard />
    <VerifyCard />
    <AnchorsCard />
  </Page>
);
