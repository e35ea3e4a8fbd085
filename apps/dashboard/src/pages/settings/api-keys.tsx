import { useState } from 'react';
import type { ApiKey } from '../../api/shapes.js';
import { useChange } from '../../api/use-change.js';
import { Button } from '../../parts/button.js';
import { Card } from '../../parts/card.js';
import { Choice } from '../../parts/choice.js';
import { count } from '../../parts/count.js';
import type { Column } from '../../parts/data-table.js';
import { Empty } from '../../parts/empty.js';
import { Field } from '../../parts/field.js';
import { Form } from '../../parts/form.js';
import { Listing } from '../../parts/listing.js';
import { Moment } from '../../parts/moment.js';
import { Refusal } from '../../parts/refusal.js';
import { SecretOnce } from '../../parts/secret-once.js';
import { Status } from '../../parts/status.js';
import { RevokeKey } from './revoke-key.js';
import { useAccountKeys } from './use-account-keys.js';

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
