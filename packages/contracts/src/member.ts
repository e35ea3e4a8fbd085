import { type Invitation, type Member, type OpenInvitation, publicId, ROLES } from '@vat/domain';
import { z } from 'zod';
import { newEmail, newPassword } from './account.js';

/** Body of POST /app/api/invitations. Without `email` the invited person chooses it. */
export const inviteBody = z.strictObject({ email: newEmail().optional(), role: z.enum(ROLES) });

/** Body of PATCH /app/api/members/{id}. */
export const changeMemberBody = z.strictObject({ role: z.enum(ROLES) });

/** The token of an invitation: 18 bytes in base64url. Any other text is an unknown one. */
const token = () => z.string().max(200);

/** Body of POST /app/api/invitation. */
export const invitationBody = z.strictObject({ token: token() });

/** Body of POST /app/api/invitation/accept. `email`: only for an invitation without one. */
export const acceptInvitationBody = z.strictObject({
  token: token(),
  email: newEmail().optional(),
  password: newPassword(),
});

/** A member in GET /app/api/members. `last_seen_at`: the last use of a session that has not ended. */
export const presentMember = ({ id, email, role, createdAt, lastSeenAt }: Member) => ({
  user_id: publicId('user', id),
  email,
  role,
  joined_at: createdAt.toISOString(),
  last_seen_at: lastSeenAt?.toISOString() ?? null,
});

/** A pending invitation in GET /app/api/members. The link is only in the response to POST /app/api/invitations. */
export const presentInvitation = ({ id, email, role, invitedBy, createdAt, expiresAt }: Invitation) => ({
  invitation_id: publicId('invitation', id),
  email,
  role,
  invited_by: invitedBy,
  created_at: createdAt.toISOString(),
  expires_at: expiresAt.toISOString(),
});

/** Response of POST /app/api/invitation: what the holder of the link sees. */
export const presentOpenInvitation = ({ accountName, email, role, expiresAt }: OpenInvitation) => ({
  account_name: accountName,
  email,
  role,
  expires_at: expiresAt.toISOString(),
});
