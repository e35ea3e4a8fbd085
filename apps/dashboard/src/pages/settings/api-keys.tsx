import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { ApiKey } from '../../api/shapes.js';
import { useChange } from '../../api/use-change.js';
import { usePages } from '../../api/use-read.js';
import { Button } from '../../parts/button.js';
import { type Column, Listing } from '../../parts/data-table.js';
import { Choice, Field, Form } from '../../parts/form.js';
import { count } from '../../parts/format.js';
import { useUndoable } from '../../parts/planned-acts.js';
import { Empty, Refusal } from '../../parts/states.js';
import { Card, Moment, SecretOnce, Status } from '../../parts/text.js';

/** Long enough to see the wrong row go, well within the five seconds in which a revoked key has to stop working. */
const UNDO_MS = 1_500;

/**
 * Revokes a key, with a moment to take it back: a shop stops working without its key. It is called revoked once the server
 * has said so: a browser that is closed before has perhaps never asked.
 */
const RevokeKey = ({ apiKey }: { apiKey: ApiKey }) => {
  // Apart from the call itself, which is shown as under way a moment after the plan is gone.
  const [asked, setAsked] = useState<'not' | 'lookingUp' | 'done'>('not');
  const revoke = useChange(['keys'], (api, _input: undefined) => api.call('DELETE', `/keys/${apiKey.key_id}`));
  const { isPlanned, plan, undo } = useUndoable(UNDO_MS, async () => {
    setAsked('lookingUp');
    try {
      await revoke.mutateAsync(undefined);
      setAsked('done');
    } catch (error) {
      setAsked('not');
      throw error;
    }
  });
  const isRevoked = asked === 'done' || apiKey.revoked_at !== null;
  const isLive = !(isRevoked || isPlanned || asked === 'lookingUp');

  const cell = useRef<HTMLSpanElement>(null);
  const offered = isLive ? 'revoke' : isPlanned && !isRevoked ? 'undo' : 'nothing';
  const before = useRef(offered);
  useLayoutEffect(() => {
    if (before.current === offered) return;
    before.current = offered;
    // A button that goes takes the focus with it; whoever came by the keyboard would begin again at the top.
    const { activeElement } = document;
    if (activeElement !== document.body && !cell.current?.contains(activeElement)) return;
    const next = cell.current?.querySelector('button') ?? cell.current?.querySelector<HTMLElement>('[aria-live]');
    next?.focus({ preventScroll: true });
  }, [offered]);
  return (
    <>
      <span ref={cell} className="row">
        {offered === 'revoke' && (
          <Button small look="danger" onPress={plan}>
            Revoke
          </Button>
        )}
        <span className="hint" aria-live="polite" tabIndex={-1}>
          {!isLive && <Status word={isRevoked ? 'revoked' : 'revoking'} />}{' '}
          {apiKey.revoked_at !== null && <Moment at={apiKey.revoked_at} />}
        </span>
        {offered === 'undo' && (
          <Button small onPress={undo}>
            Undo
          </Button>
        )}
      </span>
      <Refusal error={revoke.error} />
    </>
  );
};

type AccountKeys = {
  keys: UseInfiniteQueryResult<ApiKey[]>;
  /** What works or did so when the page was opened, the newest first; after it what was revoked earlier that day. */
  shown: ApiKey[];
  /** What was revoked on an earlier day. */
  folded: ApiKey[];
};

/** The most that a page of a list has. */
const PAGE = 100;

/** Keys are nobody's news, and the operator makes and revokes them too. */
const POLL_INTERVAL_MS = 4_000;

/** All keys of the account: nobody knows which of a first page's are live until the rest is there. */
const useAccountKeys = (): AccountKeys => {
  const keys = usePages<ApiKey>('keys', '/keys', { limit: PAGE }, POLL_INTERVAL_MS);
  const { data = [], hasNextPage, isFetching, isError, fetchNextPage } = keys;
  useEffect(() => {
    if (hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [hasNextPage, isFetching, isError, fetchNextPage]);

  const [today] = useState(() => new Date().setHours(0, 0, 0, 0));
  // A row that left its place when it is revoked would put another key's Revoke under the pointer.
  const [staying] = useState(() => new Set<string>());
  for (const { key_id, revoked_at } of data) if (revoked_at === null) staying.add(key_id);
  const gone = data.filter(({ key_id }) => !staying.has(key_id));
  const isOld = ({ revoked_at }: ApiKey) => revoked_at !== null && Date.parse(revoked_at) < today;
  return {
    keys,
    shown: [...data.filter(({ key_id }) => staying.has(key_id)), ...gone.filter((key) => !isOld(key))],
    folded: gone.filter(isOld),
  };
};

type Created = { key_id: string; key: string };

const COLUMNS: readonly Column<ApiKey>[] = [
  { head: 'Name', cell: ({ name }) => <strong>{name}</strong> },
  { head: 'Kind', cell: ({ test }) => <Status word={test ? 'test' : 'live'} /> },
  {
    head: 'Key',
    cell: ({ hint }) => <code>…{hint}</code>,
  },
  { head: 'Created', cell: ({ created_at }) => <Moment at={created_at} /> },
  { head: 'Last used', cell: ({ last_used_at }) => (last_used_at ? <Moment at={last_used_at} /> : 'never') },
  { head: 'Action', hideHead: true, cell: (key) => <RevokeKey apiKey={key} /> },
];

/** The keys of the account: make one, see it once, revoke it. */
export const ApiKeys = () => {
  const { keys, shown, folded } = useAccountKeys();
  const [isUnfolded, setUnfolded] = useState(false);
  const [kind, setKind] = useState<'live' | 'test'>('live');
  const [name, setName] = useState('');
  const create = useChange(['keys'], (api, body: { name: string; test: boolean }) =>
    api.call<Created>('POST', '/keys', { body }),
  );
  // Apart from the call that brought it: a later one that is refused must not take away a key that is shown this once.
  const [created, setCreated] = useState<Created | null>(null);
  const isRevoked = keys.data?.some(({ key_id, revoked_at }) => key_id === created?.key_id && revoked_at !== null);
  const submit = () =>
    create.mutate(
      { name, test: kind === 'test' },
      {
        onSuccess: (made) => {
          setCreated(made);
          setName('');
        },
      },
    );
  return (
    <Card
      title="API keys"
      hint="A live key asks VIES and uses the quota; a test key is answered by a sandbox and costs nothing."
    >
      <Form className="inline-form" onTry={create.reset} onSubmit={submit}>
        <Field label="Key name" value={name} onChange={setName} placeholder="Shop" isRequired autoComplete="off" />
        <Choice
          label="Kind"
          value={kind}
          onChange={setKind}
          options={[
            { value: 'live', label: 'Live' },
            { value: 'test', label: 'Test' },
          ]}
        />
        <Button type="submit" look="primary" isPending={create.isPending}>
          Create key
        </Button>
      </Form>
      <Refusal error={create.error} />
      {created && !isRevoked && <SecretOnce what="key" text={created.key} />}
      <Listing
        label="API keys"
        list={{ ...keys, hasNextPage: false, data: keys.data && (isUnfolded ? [...shown, ...folded] : shown) }}
        columns={COLUMNS}
        rowKey={({ key_id }) => key_id}
        empty={<Empty title="No keys">Create one to call the API.</Empty>}
      />
      {folded.length > 0 && (
        <div className="actions">
          <Button small look="quiet" aria-expanded={isUnfolded} onPress={() => setUnfolded(!isUnfolded)}>
            {isUnfolded ? 'Hide' : 'Show'} {count(folded.length)} revoked {folded.length === 1 ? 'key' : 'keys'}
          </Button>
        </div>
      )}
    </Card>
  );
};
