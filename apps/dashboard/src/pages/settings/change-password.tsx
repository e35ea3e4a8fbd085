import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { useChange } from '../../api/use-change.js';
import { Button } from '../../parts/button.js';
import { Confirm } from '../../parts/confirm.js';
import { Field, Form } from '../../parts/form.js';
import { usePlanned } from '../../parts/planned-acts.js';
import { Refusal } from '../../parts/states.js';
import { Card } from '../../parts/text.js';
import { BOOT, useEnter, useSession } from '../../session/session.js';

/** Change the password; end every session of this account's user. */
export const ChangePassword = () => {
  const enter = useEnter();
  const planned = usePlanned();
  const { account } = useSession();
  const form = useRef<HTMLFormElement>(null);
  const [repeated, setRepeated] = useState('');
  const [wanted, setWanted] = useState('');
  const queries = useQueryClient();
  const change = useChange([], async (api, body: { current_password: string; new_password: string }) => {
    await planned.finish();
    await api.call('PUT', '/password', { body });
    // The session goes on as a new one, with a CSRF token of its own.
    await queries.refetchQueries({ queryKey: BOOT });
  });
  const endAllSessions = useChange([], async (api, _input: undefined) => {
    await planned.finish();
    await api.call('DELETE', '/sessions');
    enter(null);
  });
  const isDifferent = repeated !== '' && repeated !== wanted;
  const clear = () => {
    change.reset();
    endAllSessions.reset();
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    if (repeated !== wanted) return;
    const given = new FormData(event.currentTarget);
    change.mutate(
      { current_password: String(given.get('current')), new_password: wanted },
      {
        onSuccess: () => {
          form.current?.reset();
          setWanted('');
          setRepeated('');
        },
      },
    );
  };
  return (
    <Card title="Password">
      <Form ref={form} className="stack narrow" onTry={clear} onSubmit={submit}>
        {/* So that password managers know whose password it is. */}
        <input type="text" autoComplete="username" value={account.email} readOnly hidden />
        <Field label="Current password" name="current" type="password" autoComplete="current-password" isRequired />
        <Field
          label="New password"
          type="password"
          autoComplete="new-password"
          value={wanted}
          onChange={setWanted}
          minLength={12}
          hint="At least 12 characters; a few words are good. Other browsers are signed out."
          isRequired
        />
        <Field
          label="New password again"
          type="password"
          autoComplete="new-password"
          value={repeated}
          onChange={setRepeated}
          error={isDifferent ? 'The two are not the same.' : undefined}
          isRequired
        />
        <Refusal error={change.error ?? endAllSessions.error} />
        {change.isSuccess && <p role="status">The password is changed.</p>}
        <div className="actions">
          <Button type="submit" isPending={change.isPending}>
            Change password
          </Button>
          <Confirm
            action="End all sessions"
            question="End all sessions?"
            onConfirm={() => endAllSessions.mutate(undefined)}
          >
            <p>Every browser that is signed in to this account has to sign in again, this one too.</p>
          </Confirm>
        </div>
      </Form>
    </Card>
  );
};
