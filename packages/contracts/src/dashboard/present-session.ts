import { PLANS, type Plan, publicId } from '@vat/domain';

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
