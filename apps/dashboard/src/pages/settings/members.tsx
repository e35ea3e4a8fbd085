import { useQueryClient } from '@tanstack/react-query';
import { ROLES, type Role } from '@vat/domain/roles';
import { type FormEvent, useRef, useState } from 'react';
import type { Invitation, Member } from '../../api/shapes.js';
import { useApiMutation, useChoice } from '../../api/use-api-mutation.js';
import { showSaved, useApiQuery } from '../../api/use-api-query.js';
import { Button } from '../../parts/button.js';
import { Confirm } from '../../parts/confirm.js';
import { type Column, DataTable } from '../../parts/data-table.js';
import { Field, Form, filledFields, Select } from '../../parts/form.js';
import { ErrorAlert, QueryView } from '../../parts/states.js';
import { Card, DateTime, SecretOnce, Status } from '../../parts/text.js';
import { useMay, useSession } from '../../session/session.js';

const ROLE_OPTIONS = ROLES.map((value) => ({ value, label: value.charAt(0).toUpperCase() + value.slice(1) }));

/** Invitations and the time of the last call cause no page updates. */
const POLL_INTERVAL_MS = 4_000;

const PATH = '/members';

type Team = { members: Member[]; invitations: Invitation[] };

/** Changes the role of another member. */
const RoleSelect = ({ member: { user_id, email, role } }: { member: Member }) => {
  const queries = useQueryClient();
  const change = useApiMutation(['members'], async (api, next: Role) => {
    await api.call('PATCH', `${PATH}/${user_id}`, { body: { role: next } });
    const changed = (member: Member) => (member.user_id === user_id ? { ...member, role: next } : member);
    await showSaved<Team>(
      queries,
      'members',
      PATH,
      (shown) => shown && { ...shown, members: shown.members.map(changed) },
    );
  });
  const [shownRole, choose] = useChoice(role, change);
  return (
    <>
      <Select label={`Role of ${email}`} hideLabel value={shownRole} options={ROLE_OPTIONS} onChange={choose} />
      <ErrorAlert error={change.error} />
    </>
  );
};

const RemoveMember = ({ member: { user_id, email } }: { member: Member }) => {
  const remove = useApiMutation(['members'], (api) => api.call('DELETE', `${PATH}/${user_id}`));
  return (
    <>
      <Confirm
        small
        action="Remove"
        question={`Remove ${email}?`}
        // The row stays until the list has been read again.
        isPending={remove.isPending || remove.isSuccess}
        onConfirm={() => remove.mutate()}
      >
        <p>
          This ends all sessions of this member at once. API keys that the member created keep working: revoke those
          that the member may have copied.
        </p>
      </Confirm>
      <ErrorAlert error={remove.error} />
    </>
  );
};

const RevokeInvitation = ({ invitation }: { invitation: Invitation }) => {
  const revoke = useApiMutation(['members'], (api) => api.call('DELETE', `/invitations/${invitation.invitation_id}`));
  return (
    <>
      {/* The row stays until the list has been read again. */}
      <Button small variant="danger" isPending={revoke.isPending || revoke.isSuccess} onPress={() => revoke.mutate()}>
        Revoke
      </Button>
      <ErrorAlert error={revoke.error} />
    </>
  );
};

/** The columns of the members. An owner manages the others; another owner manages this one. */
const memberColumns = (own: string, mayManage: boolean): readonly Column<Member>[] => {
  const isManaged = ({ email }: Member) => mayManage && email !== own;
  return [
    {
      head: 'E-mail',
      cell: ({ email }) => (
        <>
          <strong className="clipped" title={email}>
            {email}
          </strong>{' '}
          {email === own && <span className="hint">(you)</span>}
        </>
      ),
    },
    {
      head: 'Role',
      cell: (member) => (isManaged(member) ? <RoleSelect member={member} /> : <Status word={member.role} />),
    },
    { head: 'Joined', cell: ({ joined_at }) => <DateTime at={joined_at} /> },
    { head: 'Last seen', cell: ({ last_seen_at }) => last_seen_at && <DateTime at={last_seen_at} /> },
    { head: 'Action', hideHead: true, cell: (member) => (isManaged(member) ? <RemoveMember member={member} /> : '') },
  ];
};

const invitationColumns = (mayManage: boolean): readonly Column<Invitation>[] => [
  { head: 'E-mail', cell: ({ email }) => email ?? <em>chosen by the person with the link</em> },
  { head: 'Role', cell: ({ role }) => <Status word={role} /> },
  { head: 'Invited by', cell: ({ invited_by }) => invited_by },
  { head: 'Expires', cell: ({ expires_at }) => <DateTime at={expires_at} /> },
  {
    head: 'Action',
    hideHead: true,
    cell: (invitation) => (mayManage ? <RevokeInvitation invitation={invitation} /> : ''),
  },
];

type Invited = Invitation & { url: string; mailed: boolean };

const InviteForm = ({ pending }: { pending: readonly Invitation[] }) => {
  const form = useRef<HTMLFormElement>(null);
  const invite = useApiMutation(['members'], (api, body: { email?: string; role?: string }) =>
    api.call<Invited>('POST', '/invitations', { body }),
  );
  // Separate from the mutation: a later failed call must not hide a link that is shown only once.
  const [invited, setInvited] = useState<Invited | null>(null);
  const isPending = pending.some(({ invitation_id }) => invitation_id === invited?.invitation_id);
  const submit = (event: FormEvent<HTMLFormElement>) =>
    invite.mutate(filledFields(event.currentTarget, ['email', 'role']), {
      onSuccess: (response) => {
        setInvited(response);
        form.current?.reset();
      },
    });
  return (
    <>
      <Form ref={form} className="inline-form" onBeforeSubmit={invite.reset} onSubmit={submit}>
        <Field
          label="E-mail"
          name="email"
          type="email"
          hint="Optional. Without one, the person with the link chooses it."
          autoComplete="off"
        />
        <Select label="Role" name="role" defaultValue="member" options={ROLE_OPTIONS} />
        <Button type="submit" variant="primary" isPending={invite.isPending}>
          Invite
        </Button>
      </Form>
      <ErrorAlert error={invite.error} />
      {invited && isPending && (
        <>
          {invited.mailed && <p className="hint">We also send the link to {invited.email}.</p>}
          <SecretOnce what="invitation link" text={invited.url} />
        </>
      )}
    </>
  );
};

/** The members of the account and the pending invitations. Owners invite, change roles and remove. */
export const Members = () => {
  const { email } = useSession().account;
  const mayManage = useMay('manage');
  const members = useApiQuery<Team>('members', PATH, { every: POLL_INTERVAL_MS });
  return (
    <Card
      title="Members"
      hint="Owners can do everything. Members can do everything except manage members. Auditors can read everything and change nothing."
    >
      {mayManage && <InviteForm pending={members.data?.invitations ?? []} />}
      <QueryView query={members}>
        {(data) => (
          <>
            <DataTable
              label="Members"
              columns={memberColumns(email, mayManage)}
              rows={data.members}
              rowKey={({ user_id }) => user_id}
            />
            {data.invitations.length > 0 && (
              <>
                <h3>Pending invitations</h3>
                <DataTable
                  label="Pending invitations"
                  columns={invitationColumns(mayManage)}
                  rows={data.invitations}
                  rowKey={({ invitation_id }) => invitation_id}
                />
              </>
            )}
          </>
        )}
      </QueryView>
    </Card>
  );
};
