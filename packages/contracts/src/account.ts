import { PLANS, type Plan, periodEnd, publicId } from '@vat/domain';
import { z } from 'zod';
import { instant, printable } from './text.js';

/** GET /v1/usage. */
export const usageSchema = z
  .strictObject({
    period: z
      .string()
      .regex(/^\d{4}-\d{2}$/)
      .describe('UTC calendar month.'),
    plan: z.enum(Object.keys(PLANS) as [Plan, ...Plan[]]),
    limit: z.int().min(0),
    used: z.int().min(0).describe('Units consumed by recorded verdicts.'),
    reserved: z.int().min(0).describe('Units held for work in hand.'),
    reset_at: instant(),
  })
  .meta({ id: 'Usage', description: 'Checks of the current month.' });

/** GET /v1/usage. Source: contract part 2 §3. */
export const presentUsage = (usage: {
  period: string;
  plan: Plan;
  limit: number;
  used: number;
  reserved: number;
}): z.input<typeof usageSchema> => ({
  period: usage.period,
  plan: usage.plan,
  limit: usage.limit,
  used: usage.used,
  reserved: usage.reserved,
  reset_at: periodEnd(usage.period).toISOString(),
});

/** Fewest and most characters of a password that is chosen here. */
export const PASSWORD_LENGTH = { min: 12, max: 1_024 } as const;

/** A password that somebody chooses, taken as it is typed: length is what makes it strong. */
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

/** An entry of GET /app/api/keys: `hint` is the key's last four characters; the key itself is known to its owner only. */
export const presentKey = (key: {
  id: string;
  name: string;
  test: boolean;
  hint: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
}) => ({
  key_id: publicId('key', key.id),
  name: key.name,
  test: key.test,
  hint: key.hint,
  created_at: key.createdAt.toISOString(),
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
  revoked_at: key.revokedAt?.toISOString() ?? null,
});

/** Answer of POST and GET /app/api/session. `quota`: checks a month. Source: contract part 2 §9. */
export const presentSession = (
  session: { accountId: string; accountName: string; email: string; plan: Plan; quota: number; disabled: boolean },
  csrfToken: string,
) => ({
  csrf_token: csrfToken,
  account: {
    account_id: publicId('account', session.accountId),
    name: session.accountName,
    email: session.email,
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
 * Body of POST /app/api/session. The address is only cleaned, not judged: one that cannot exist is answered like one that
 * does not. The password is taken as it is typed.
 */
export const signInBody = z.strictObject({
  email: printable(320).transform((text) => text.trim().toLowerCase()),
  password: z.string().min(1).max(1_024),
});
export type SignInBody = z.output<typeof signInBody>;

/** Body of POST /app/api/sign-up. The address is judged for its form alone: nothing is sent to it. */
export const signUpBody = z.strictObject({
  name: printable(100).transform((text) => text.trim()),
  email: printable(254)
    .transform((text) => text.trim().toLowerCase())
    .pipe(z.email()),
  password: newPassword(),
});
export type SignUpBody = z.output<typeof signUpBody>;
