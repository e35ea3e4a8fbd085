import { Link, useSearch } from '@tanstack/react-router';
import { type FormEvent, useRef } from 'react';
import type { Session } from '../../api/shapes.js';
import { useApiMutation } from '../../api/use-api-mutation.js';
import { Button } from '../../parts/button.js';
import { Field, Form } from '../../parts/form.js';
import { ErrorAlert, QueryView } from '../../parts/states.js';
import { useBoot, useSetSession } from '../../session/session.js';
import { Redirect, SignedOutLayout } from '../../shell/gate.js';

/** Accepts only addresses of this site, to prevent open redirects. */
const ownAddress = (next: string | undefined): string => (next && /^\/(?![/\\])/.test(next) ? next : '/');

/** Signs in and continues to the requested page. */
export const SignInPage = () => {
  const boot = useBoot();
  const { next } = useSearch({ from: '/sign-in' });
  const setSession = useSetSession();
  const form = useRef<HTMLFormElement>(null);
  const signIn = useApiMutation([], async (api, body: { email: string; password: string }) => {
    setSession(await api.call<Session>('POST', '/session', { body }));
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    const fields = new FormData(event.currentTarget);
    signIn.mutate(
      { email: String(fields.get('email')), password: String(fields.get('password')) },
      {
        onError: () => form.current?.querySelector<HTMLInputElement>('input[name=password]')?.select(),
      },
    );
  };

  if (boot.data?.session) return <Redirect address={ownAddress(next)} />;
  return (
    <SignedOutLayout title="Sign in">
      <QueryView query={boot}>
        {({ signup }) => (
          <>
            <Form ref={form} onBeforeSubmit={signIn.reset} onSubmit={submit} className="stack">
              <ErrorAlert error={signIn.error} />
              <Field label="E-mail" name="email" type="email" autoComplete="username" isRequired autoFocus />
              <Field label="Password" name="password" type="password" autoComplete="current-password" isRequired />
              <Button type="submit" variant="primary" isPending={signIn.isPending}>
                Sign in
              </Button>
            </Form>
            {signup === 'open' && (
              <p className="hint">
                No account yet? <Link to="/sign-up">Sign up</Link>
              </p>
            )}
          </>
        )}
      </QueryView>
    </SignedOutLayout>
  );
};
