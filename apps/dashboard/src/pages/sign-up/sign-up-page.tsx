import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { FormEvent } from 'react';
import type { Session } from '../../api/shapes.js';
import { useChange } from '../../api/use-change.js';
import { Button } from '../../parts/button.js';
import { Field, Form } from '../../parts/form.js';
import { Loading, Refusal } from '../../parts/states.js';
import { useBoot, useEnter } from '../../session/session.js';
import { Gate, GoTo } from '../../shell/gate.js';
import { FIRST_KEYS, type FirstKeys } from '../welcome/welcome-page.js';

type NewAccount = { name: string; email: string; password: string };

/** Opens an account on the free plan, where the operator lets people do so. */
export const SignUpPage = () => {
  const boot = useBoot();
  const enter = useEnter();
  const queries = useQueryClient();
  const signUp = useChange([], async (api, body: NewAccount) => {
    const { live_key, test_key, ...session } = await api.call<Session & FirstKeys>('POST', '/sign-up', { body });
    enter(session);
    queries.setQueryData<FirstKeys>(FIRST_KEYS, { live_key, test_key });
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    const given = new FormData(event.currentTarget);
    const text = (name: keyof NewAccount) => String(given.get(name) ?? '');
    signUp.mutate({ name: text('name').trim(), email: text('email').trim(), password: text('password') });
  };

  if (boot.data === undefined) {
    return (
      <Gate title="Sign up">{boot.error ? <Refusal error={boot.error} onRetry={boot.refetch} /> : <Loading />}</Gate>
    );
  }
  if (boot.data.session) return <GoTo address="/welcome" />;
  if (boot.data.signup !== 'open') {
    return (
      <Gate title="Sign up">
        <p>Accounts are opened by the operator of this service. Ask there for one.</p>
        <Link to="/sign-in">Sign in</Link>
      </Gate>
    );
  }
  return (
    <Gate title="Sign up">
      <p className="hint">The free plan has 100 checks a month, a live key and a test key.</p>
      <Form onTry={signUp.reset} onSubmit={submit} className="stack">
        <Refusal error={signUp.error} />
        <Field
          label="Name"
          name="name"
          autoComplete="organization"
          hint="Of your company or project."
          isRequired
          autoFocus
        />
        <Field label="E-mail" name="email" type="email" autoComplete="username" isRequired />
        <Field
          label="Password"
          name="password"
          type="password"
          autoComplete="new-password"
          minLength={12}
          hint="At least 12 characters; a few words are good."
          isRequired
        />
        <Button type="submit" look="primary" isPending={signUp.isPending}>
          Open the account
        </Button>
      </Form>
      <p className="hint">
        You have one? <Link to="/sign-in">Sign in</Link>
      </p>
    </Gate>
  );
};
