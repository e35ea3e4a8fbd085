import { type UseMutationResult, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type FormEvent, useEffect, useState } from 'react';
import { useApi } from '../../api/create-api.js';
import { ApiError, isNotFound } from '../../api/errors.js';
import type { OpenInvitation, Session } from '../../api/shapes.js';
import { useApiMutation } from '../../api/use-api-mutation.js';
import { Button } from '../../parts/button.js';
import { Field, Form, filledFields, NewPassword } from '../../parts/form.js';
import { ErrorAlert, QueryView } from '../../parts/states.js';
import { DateTime, Status } from '../../parts/text.js';
import { useBoot, useSetSession } from '../../session/session.js';
import { Redirect, SignedOutLayout } from '../../shell/gate.js';

type Acceptance = { token: string; email?: string; password: string };

const isTaken = (error: unknown): boolean => error instanceof ApiError && error.code === 'EMAIL_TAKEN';

/** A user belongs to one account, so that signing in would not join another. */
const takenAddress = ({ account_name, email }: OpenInvitation): Error =>
  new Error(
    `This e-mail address belongs to a user of the service already, so it cannot join ${account_name}. ${
      email === null ? 'Join with another address.' : 'Ask an owner of the account to invite another address.'
    }`,
  );

type AcceptFormProps = {
  token: string;
  invitation: OpenInvitation;
  accept: UseMutationResult<Session, Error, Acceptance>;
};

const AcceptForm = ({ token, invitation, accept }: AcceptFormProps) => {
  const session = useBoot().data?.session;
  const setSession = useSetSession();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    const password = String(new FormData(event.currentTarget).get('password'));
    const body = { token, password, ...filledFields(event.currentTarget, ['email']) };
    accept.mutate(body, { onSuccess: setSession });
  };
  const { account_name, email, role, expires_at } = invitation;
  return (
    <>
      <p>
        You are invited to join <strong>{account_name}</strong> as <Status word={role} />
      </p>
      {session && <p className="hint">Joining signs out {session.account.email} in this browser.</p>}
      <Form onBeforeSubmit={accept.reset} onSubmit={submit} className="stack">
        <ErrorAlert error={isTaken(accept.error) ? takenAddress(invitation) : accept.error} />
        {email === null ? (
          <Field label="E-mail" name="email" type="email" autoComplete="username" isRequired autoFocus />
        ) : (
          <Field label="E-mail" type="email" autoComplete="username" value={email} isReadOnly />
        )}
        <NewPassword autoFocus={email !== null} />
        <Button type="submit" variant="primary" isPending={accept.isPending}>
          Join
        </Button>
      </Form>
      <p className="hint">
        This link works once, until <DateTime at={expires_at} />.
      </p>
    </>
  );
};

const Invitation = ({ token }: { token: string }) => {
  const api = useApi();
  const accept = useApiMutation([], (caller, body: Acceptance) =>
    caller.call<Session>('POST', '/invitation/accept', { body }),
  );
  const invitation = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => api.call<OpenInvitation>('POST', '/invitation', { body: { token } }),
    staleTime: Number.POSITIVE_INFINITY,
    enabled: !accept.isSuccess,
  });
  if (accept.isSuccess) return <Redirect address="/" />;
  return (
    <SignedOutLayout title="Invitation">
      {isNotFound(invitation.error) || isNotFound(accept.error) ? (
        <>
          <p role="alert">
            This invitation was accepted or revoked, or has expired. Ask an owner of the account for another one.
          </p>
          <Link to="/">Go to the dashboard</Link>
        </>
      ) : (
        <QueryView query={invitation}>
          {(data) => <AcceptForm token={token} invitation={data} accept={accept} />}
        </QueryView>
      )}
    </SignedOutLayout>
  );
};

const tokenInAddress = (): string => window.location.hash.slice(1);

/** Accepts an invitation, whose token is the fragment of the address, and signs in. */
export const InvitationPage = () => {
  const [token, setToken] = useState(tokenInAddress);
  useEffect(() => {
    // Another link that is opened in this window changes only the fragment. Leaving the page is no such event.
    const follow = () => setToken(tokenInAddress());
    window.addEventListener('hashchange', follow);
    return () => window.removeEventListener('hashchange', follow);
  }, []);
  return <Invitation key={token} token={token} />;
};
