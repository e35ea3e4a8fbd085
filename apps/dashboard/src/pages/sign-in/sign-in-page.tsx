import { Link, useSearch } from '@tanstack/react-router';
import { type FormEvent, useRef } from 'react';
import type { Session } from '../../api/shapes.js';
import { useChange } from '../../api/use-change.js';
import { Button } from '../../parts/button.js';
import { Field, Form } from '../../parts/form.js';
import { Loading, Refusal } from '../../parts/states.js';
import { useBoot, useEnter } from '../../session/session.js';
import { Gate, GoTo } from '../../shell/gate.js';

/** Only addresses of our own lead on; anything else would be a way to send somebody elsewhere through us. */
const ownAddress = (next: string | undefined): string => (next && /^\/(?![/\\])/.test(next) ? next : '/');

/** Sign in, and go on to where one wanted to go. */
export const SignInPage = () => {
  const boot = useBoot();
  const { next } = useSearch({ from: '/sign-in' });
  const enter = useEnter();
  const form = useRef<HTMLFormElement>(null);
  const signIn = useChange([], async (api, body: { email: string; password: string }) => {
    enter(await api.call<Session>('POST', '/session', { body }));
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    const given = new FormData(event.currentTarget);
    signIn.mutate(
      { email: String(given.get('email')), password: String(given.get('password')) },
      {
        onError: () => form.current?.querySelector<HTMLInputElement>('input[name=password]')?.select(),
      },
    );
  };

  if (boot.data?.session) return <GoTo address={ownAddress(next)} />;
  if (boot.data === undefined) {
    return (
      <Gate title="Sign in">{boot.error ? <Refusal error={boot.error} onRetry={boot.refetch} /> : <Loading />}</Gate>
    );
  }
  return (
    <Gate title="Sign in">
      <Form ref={form} onTry={signIn.reset} onSubmit={submit} className="stack">
        <Refusal error={signIn.error} />
        <Field label="E-mail" name="email" type="email" autoComplete="username" isRequired autoFocus />
        <Field label="Password" name="password" type="password" autoComplete="current-password" isRequired />
        <Button type="submit" look="primary" isPending={signIn.isPending}>
          Sign in
        </Button>
      </Form>
      {boot.data.signup === 'open' && (
        <p className="hint">
          No account yet? <Link to="/sign-up">Open one</Link>
        </p>
      )}
    </Gate>
  );
};
