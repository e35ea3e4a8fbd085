/**
 * What a call of the dashboard does: it reads, changes only the caller's own password or sessions, changes something of the
 * account, or manages the account's members.
 */
export type Access = 'read' | 'own' | 'change' | 'manage';

const ALLOWED = {
  owner: ['read', 'own', 'change', 'manage'],
  member: ['read', 'own', 'change'],
  auditor: ['read', 'own'],
} as const satisfies Record<string, readonly Access[]>;

/** The role of a user in the account: auditors read, members change, owners also manage members. */
export type Role = keyof typeof ALLOWED;

/** All roles. */
export const ROLES = Object.keys(ALLOWED) as [Role, ...Role[]];

/** Whether users of a role may make such calls. */
export const roleAllows = (role: Role, access: Access): boolean =>
  (ALLOWED[role] as readonly Access[]).includes(access);
