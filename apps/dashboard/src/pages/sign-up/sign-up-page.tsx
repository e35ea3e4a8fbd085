import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import type { Session } from '../../api/shapes.js';
import { useApiMutation } from '../../api/use-api-mutation.js';
import { Button } from '../../parts/button.js';
import { Field, Form, NewPassword } from '../../parts/form.js';
import { ErrorAlert, QueryView } from '../../parts/states.js';
import { useBoot, useSetSession } from '../../session/session.js';
import { Redirect, SignedOutLayout } from '../../shell/gate.js';
import { FIRST_KEYS, type FirstKeys } from '../welcome/welcome-page.js';

type NewAccount = { name: string; email: string; password: string };

/** Creates an account on the free plan, if sign-up is open. */
export const SignUpPage = () => {
  const boot = useBoot();
  const setSession = useSetSession();
  const queries = useQueryClient();
  const signUp = useApiMutation([], async (api, body: NewAccount) => {
    const { live_key, test_key, ...session } = await api.call<Session & FirstKeys>('POST', '/sign-up', { body });
    setSession(session);
    queries.setQueryData<FirstKeys>(FIRST_KEYS, { live_key, test_key });
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    const fields = new FormData(event.currentTarget);
    const text = (name: keyof NewAccount) => String(fields.get(name) ?? '');
    signUp.mutate({ name: text('name').trim(), email: text('email').trim(), password: text('password') });
  };

  if (boot.data?.session) return <Redirect address="/welcome" />;
  return (
    <SignedOutLayout title="Sign up">
      <QueryView query={boot}>
        {({ signup }) =>
          signup === 'open' ? (
            <>
              <p className="hint">The free plan includes 100 checks a month, a live key and a test key.</p>
              <Form onBeforeSubmit={signUp.reset} onSubmit={submit} className="stack">
                <ErrorAlert error={signUp.error} />
                <Field
                  label="Name"
                  name="name"
                  autoComplete="organization"
                  hint="The name of your company or project."
                  isRequired
                  autoFocus
                />
                <Field label="E-mail" name="email" type="email" autoComplete="username" isRequired />
                <NewPassword />
                <Button type="submit" variant="primary" isPending={signUp.isPending}>
                  Create account
                </Button>
              </Form>
              <p className="hint">
                Already have an account? <Link to="/sign-in">Sign in</Link>
              </p>
            </>
          ) : (
            <>
              <p>Sign-up is closed. To get an account, contact the operator of this service.</p>
              <Link to="/sign-in">Sign in</Link>
            </>
          )
        }
      </QueryView>
    </SignedOutLayout>
  );
};
