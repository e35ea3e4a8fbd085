import { type ApiKeySummary, PLANS, type Plan, periodEnd, publicId, type Role } from '@vat/domain';
import { z } from 'zod';
import { instant, printable } from './text.js';

/** GET /v1/usage. */
export const usageSchema = z
  .strictObject({
    period: z
      .string()
      .regex(/^\d{4}-\d{2}$/)
      .describe('The calendar month in UTC.'),
    plan: z.enum(Object.keys(PLANS) as [Plan, ...Plan[]]),
    limit: z.int().min(0),
    used: z.int().min(0).describe('Units consumed by requests of this month that VIES answered.'),
    reserved: z.int().min(0).describe('Units reserved for requests of this month that are in progress.'),
    reset_at: instant(),
  })
  .meta({ id: 'Usage', description: 'The checks of the current month.' });

/** GET /v1/usage. */
export const presentUsage = (usage: Omit<z.input<typeof usageSchema>, 'reset_at'>): z.input<typeof usageSchema> => ({
  ...usage,
  reset_at: periodEnd(usage.period).toISOString(),
});

/** Minimum and maximum characters of a new password. */
const PASSWORD_LENGTH = { min: 12, max: 1_024 } as const;

/** A new password, used exactly as it is typed. Only its length is validated, since length makes it strong. */
export const newPassword = () => z.string().min(PASSWORD_LENGTH.min).max(PASSWORD_LENGTH.max);

/** Body of PUT /app/api/password. */
export const changePasswordBody = z
  .strictObject({
    current_password: z.string().min(1).max(PASSWORD_LENGTH.max),
    new_password: newPassword(),
  })
  .refine((body) => body.new_password !== body.current_password, {
    path: ['new_password'],
    message: 'must not be the current one',
  });

/** Body of POST /app/api/keys. */
export const createKeyBody = z.strictObject({
  name: printable(64),
  test: z.boolean().default(false),
});

/** An entry of GET /app/api/keys. `hint`: the last four characters of the key, which is not stored itself. */
export const presentKey = (key: ApiKeySummary) => ({
  key_id: publicId('key', key.id),
  name: key.name,
  test: key.test,
  hint: key.hint,
  created_at: key.createdAt.toISOString(),
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
  revoked_at: key.revokedAt?.toISOString() ?? null,
});

/** Response of POST and GET /app/api/session. `quota`: checks a month. */
export const presentSession = (
  session: {
    accountId: string;
    accountName: string;
    email: string;
    role: Role;
    plan: Plan;
    quota: number;
    disabled: boolean;
  },
  csrfToken: string,
) => ({
  csrf_token: csrfToken,
  account: {
    account_id: publicId('account', session.accountId),
    name: session.accountName,
    email: session.email,
    role: session.role,
    plan: session.plan,
    allowance: {
      checks_per_month: session.quota,
      watches: PLANS[session.plan].watches,
      frequencies: PLANS[session.plan].frequencies,
    },
    disabled: session.disabled,
  },
});

/**
 * Body of POST /app/api/session. The address is not validated: one that cannot exist gets the same response as an unknown
 * one. The password is used exactly as it is typed.
 */
export const signInBody = z.strictObject({
  email: printable(320).transform((text) => text.trim().toLowerCase()),
  password: z.string().min(1).max(PASSWORD_LENGTH.max),
});

/** The e-mail address of a new user. Only its form is validated, not that its mail reaches the user. */
export const newEmail = () =>
  printable(254)
    .transform((text) => text.trim().toLowerCase())
    .pipe(z.email());

/** Body of POST /app/api/sign-up. */
export const signUpBody = z.strictObject({
  name: printable(100).transform((text) => text.trim()),
  email: newEmail(),
  password: newPassword(),
});
