import { type FormEvent, useRef } from 'react';
import { Dialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import type { Session } from '../api/shapes.js';
import { useApiMutation } from '../api/use-api-mutation.js';
import { Button } from '../parts/button.js';
import { Field, Form } from '../parts/form.js';
import { ErrorAlert } from '../parts/states.js';
import { useSetSession } from '../session/session.js';

/** The form that signs in. `email`: the address of a user who signs in again. */
export const SignInForm = ({ email }: { email?: string }) => {
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
  const isKnown = email !== undefined;
  return (
    <Form ref={form} onBeforeSubmit={signIn.reset} onSubmit={submit} className="stack">
      <ErrorAlert error={signIn.error} />
      <Field
        label="E-mail"
        name="email"
        type="email"
        autoComplete="username"
        defaultValue={email ?? ''}
        isRequired
        autoFocus={!isKnown}
      />
      <Field
        label="Password"
        name="password"
        type="password"
        autoComplete="current-password"
        isRequired
        autoFocus={isKnown}
      />
      <Button type="submit" variant="primary" isPending={signIn.isPending}>
        Sign in
      </Button>
    </Form>
  );
};

/** Shown when the session has ended on the server. It covers the page, which stays as it is with what was typed. */
export const SignInAgain = ({ email }: { email: string }) => (
  <ModalOverlay className="overlay opaque" isOpen isKeyboardDismissDisabled>
    <Modal className="modal">
      <Dialog className="dialog">
        <Heading slot="title" level={1}>
          Sign in
        </Heading>
        <p>Your session has ended. After you sign in again, the page is as you left it.</p>
        <SignInForm email={email} />
      </Dialog>
    </Modal>
  </ModalOverlay>
);
