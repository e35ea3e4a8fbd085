import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { useApiMutation } from '../../api/use-api-mutation.js';
import { Button } from '../../parts/button.js';
import { Confirm } from '../../parts/confirm.js';
import { useDeferredActions } from '../../parts/deferred-actions.js';
import { Field, Form } from '../../parts/form.js';
import { ErrorAlert } from '../../parts/states.js';
import { Card } from '../../parts/text.js';
import { BOOT, notifyOtherWindows, useSession, useSetSession } from '../../session/session.js';

/** Changes the password, or ends all sessions of the user. */
export const ChangePassword = () => {
  const setSession = useSetSession();
  const deferred = useDeferredActions();
  const { account } = useSession();
  const form = useRef<HTMLFormElement>(null);
  const [confirmation, setConfirmation] = useState('');
  const [newPassword, setNewPassword] = useState('');
  const queries = useQueryClient();
  const change = useApiMutation([], async (api, body: { current_password: string; new_password: string }) => {
    await deferred.finish();
    await api.call('PUT', '/password', { body });
    // The service replaces the session, so the CSRF token changes, for the other windows too.
    notifyOtherWindows();
    await queries.refetchQueries({ queryKey: BOOT });
  });
  const endAllSessions = useApiMutation([], async (api) => {
    await deferred.finish();
    await api.call('DELETE', '/sessions');
    setSession(null);
  });
  const isDifferent = confirmation !== '' && confirmation !== newPassword;
  const clear = () => {
    change.reset();
    endAllSessions.reset();
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    if (confirmation !== newPassword) return;
    const fields = new FormData(event.currentTarget);
    change.mutate(
      { current_password: String(fields.get('current')), new_password: newPassword },
      {
        onSuccess: () => {
          form.current?.reset();
          setNewPassword('');
          setConfirmation('');
        },
      },
    );
  };
  return (
    <Card title="Password">
      <Form ref={form} className="stack narrow" onBeforeSubmit={clear} onSubmit={submit}>
        {/* Shows password managers which account the password belongs to. */}
        <input type="text" autoComplete="username" value={account.email} readOnly hidden />
        <Field label="Current password" name="current" type="password" autoComplete="current-password" isRequired />
        <Field
          label="New password"
          type="password"
          autoComplete="new-password"
          value={newPassword}
          onChange={setNewPassword}
          minLength={12}
          hint="Use at least 12 characters, such as a few words. Your other browsers are signed out."
          isRequired
        />
        <Field
          label="Confirm new password"
          type="password"
          autoComplete="new-password"
          value={confirmation}
          onChange={setConfirmation}
          error={isDifferent ? 'The passwords do not match.' : undefined}
          isRequired
        />
        <ErrorAlert error={change.error ?? endAllSessions.error} />
        {change.isSuccess && <p role="status">Password changed.</p>}
        <div className="actions">
          <Button type="submit" isPending={change.isPending}>
            Change password
          </Button>
          <Confirm
            action="End all sessions"
            question="End all sessions?"
            isPending={endAllSessions.isPending}
            onConfirm={() => endAllSessions.mutate()}
          >
            <p>This signs you out of every browser, including this one.</p>
          </Confirm>
        </div>
      </Form>
    </Card>
  );
};
