import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { ApiKey } from '../../api/shapes.js';
import { useApiMutation } from '../../api/use-api-mutation.js';
import { useApiList } from '../../api/use-api-query.js';
import { Button } from '../../parts/button.js';
import { type Column, PagedTable } from '../../parts/data-table.js';
import { useUndoable } from '../../parts/deferred-actions.js';
import { Field, Form, Select } from '../../parts/form.js';
import { counted } from '../../parts/format.js';
import { Empty, ErrorAlert } from '../../parts/states.js';
import { Card, DateTime, SecretOnce, Status } from '../../parts/text.js';
import { Changing, useMay } from '../../session/session.js';

/** Time to undo a revocation. A revoked key must stop working within five seconds. */
const UNDO_MS = 1_500;

/**
 * Revokes a key after a short time to undo. The status changes to revoked only after the server has confirmed it: if the
 * browser closes earlier, the request may not have been sent.
 */
const RevokeKey = ({ apiKey }: { apiKey: ApiKey }) => {
  // Separate from the mutation, whose pending state renders only after the deferred action has been cleared.
  const [progress, setProgress] = useState<'idle' | 'revoking' | 'done'>('idle');
  const revoke = useApiMutation(['keys'], (api) => api.call('DELETE', `/keys/${apiKey.key_id}`));
  const { isDeferred, defer, undo } = useUndoable(UNDO_MS, async () => {
    setProgress('revoking');
    try {
      await revoke.mutateAsync();
      setProgress('done');
    } catch (error) {
      setProgress('idle');
      throw error;
    }
  });
  const mayRevoke = useMay('change');
  const isRevoked = progress === 'done' || apiKey.revoked_at !== null;
  const isLive = !(isRevoked || isDeferred || progress === 'revoking');

  const cell = useRef<HTMLSpanElement>(null);
  const action = !mayRevoke ? 'none' : isLive ? 'revoke' : isDeferred && !isRevoked ? 'undo' : 'none';
  const before = useRef(action);
  useLayoutEffect(() => {
    if (before.current === action) return;
    before.current = action;
    // A removed button loses the focus; keyboard users would start again at the top of the page.
    const { activeElement } = document;
    if (activeElement !== document.body && !cell.current?.contains(activeElement)) return;
    const next = cell.current?.querySelector('button') ?? cell.current?.querySelector<HTMLElement>('[aria-live]');
    next?.focus({ preventScroll: true });
  }, [action]);
  return (
    <>
      <span ref={cell} className="row">
        {action === 'revoke' && (
          <Button small variant="danger" onPress={defer}>
            Revoke
          </Button>
        )}
        <span className="hint" aria-live="polite" tabIndex={-1}>
          {!isLive && <Status word={isRevoked ? 'revoked' : 'revoking'} />}{' '}
          {apiKey.revoked_at !== null && <DateTime at={apiKey.revoked_at} />}
        </span>
        {action === 'undo' && (
          <Button small onPress={undo}>
            Undo
          </Button>
        )}
      </span>
      <ErrorAlert error={revoke.error} />
    </>
  );
};

type AccountKeys = {
  keys: UseInfiniteQueryResult<ApiKey[]>;
  /** Keys that were active when the page opened, newest first, then keys revoked earlier today. */
  shown: ApiKey[];
  /** Keys revoked before today. */
  collapsed: ApiKey[];
};

const PAGE_SIZE = 100;

/** Keys cause no page updates, and the operator can create and revoke them too, so they are polled. */
const POLL_INTERVAL_MS = 4_000;

/** All keys of the account. All pages are loaded, since active keys can be on any of them. */
export const useAccountKeys = (): AccountKeys => {
  const keys = useApiList<ApiKey>('keys', '/keys', { limit: PAGE_SIZE }, POLL_INTERVAL_MS);
  const { data = [], hasNextPage, isFetching, isError, fetchNextPage } = keys;
  useEffect(() => {
    if (hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [hasNextPage, isFetching, isError, fetchNextPage]);

  const [today] = useState(() => new Date().setHours(0, 0, 0, 0));
  // A revoked row keeps its place. Otherwise the Revoke button of another key would move under the pointer.
  const [pinned] = useState(() => new Set<string>());
  for (const { key_id, revoked_at } of data) if (revoked_at === null) pinned.add(key_id);
  const earlier = data.filter(({ key_id }) => !pinned.has(key_id));
  const isOld = ({ revoked_at }: ApiKey) => revoked_at !== null && Date.parse(revoked_at) < today;
  return {
    keys,
    shown: [...data.filter(({ key_id }) => pinned.has(key_id)), ...earlier.filter((key) => !isOld(key))],
    collapsed: earlier.filter(isOld),
  };
};

type Created = { key_id: string; key: string };

const COLUMNS: readonly Column<ApiKey>[] = [
  { head: 'Name', cell: ({ name }) => <strong>{name}</strong> },
  { head: 'Type', cell: ({ test }) => <Status word={test ? 'test' : 'live'} /> },
  {
    head: 'Key',
    cell: ({ hint }) => <code>…{hint}</code>,
  },
  { head: 'Created', cell: ({ created_at }) => <DateTime at={created_at} /> },
  { head: 'Last used', cell: ({ last_used_at }) => (last_used_at ? <DateTime at={last_used_at} /> : 'never') },
  { head: 'Action', hideHead: true, cell: (key) => <RevokeKey apiKey={key} /> },
];

/** The API keys of the account: create, show once, revoke. */
export const ApiKeys = ({ keys, shown, collapsed }: AccountKeys) => {
  const [isExpanded, setExpanded] = useState(false);
  const [kind, setKind] = useState<'live' | 'test'>('live');
  const [name, setName] = useState('');
  const create = useApiMutation(['keys'], (api, body: { name: string; test: boolean }) =>
    api.call<Created>('POST', '/keys', { body }),
  );
  // Separate from the mutation: a later failed call must not hide a key that is shown only once.
  const [created, setCreated] = useState<Created | null>(null);
  const isRevoked = keys.data?.some(({ key_id, revoked_at }) => key_id === created?.key_id && revoked_at !== null);
  const submit = () =>
    create.mutate(
      { name, test: kind === 'test' },
      {
        onSuccess: (response) => {
          setCreated(response);
          setName('');
        },
      },
    );
  return (
    <Card
      title="API keys"
      hint="Live keys check numbers with VIES and count towards your quota. Test keys use a sandbox and are free of charge."
    >
      <Changing>
        <Form className="inline-form" onBeforeSubmit={create.reset} onSubmit={submit}>
          <Field label="Key name" value={name} onChange={setName} placeholder="Shop" isRequired autoComplete="off" />
          <Select
            label="Type"
            value={kind}
            onChange={setKind}
            options={[
              { value: 'live', label: 'Live' },
              { value: 'test', label: 'Test' },
            ]}
          />
          <Button type="submit" variant="primary" isPending={create.isPending}>
            Create key
          </Button>
        </Form>
      </Changing>
      <ErrorAlert error={create.error} nameLabel="Key name" />
      {created && !isRevoked && <SecretOnce what="key" text={created.key} />}
      <PagedTable
        label="API keys"
        list={{ ...keys, hasNextPage: false, data: keys.data && (isExpanded ? [...shown, ...collapsed] : shown) }}
        columns={COLUMNS}
        rowKey={({ key_id }) => key_id}
        empty={
          <Empty title="No API keys">
            <Changing>Create a key to call the API.</Changing>
          </Empty>
        }
      />
      {collapsed.length > 0 && (
        <div className="actions">
          <Button small variant="quiet" aria-expanded={isExpanded} onPress={() => setExpanded(!isExpanded)}>
            {isExpanded ? 'Hide' : 'Show'} {counted(collapsed.length, 'revoked key', 'revoked keys')}
          </Button>
        </div>
      )}
    </Card>
  );
};
