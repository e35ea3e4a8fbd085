import { publicId } from '@vat/domain';

/** Answer of POST and GET /app/api/session. Source: contract part 2 §9. */
export const presentSession = (
  session: { accountId: string; accountName: string; email: string; plan: string; disabled: boolean },
  csrfToken: string,
) => ({
  csrf_token: csrfToken,
  account: {
    account_id: publicId('account', session.accountId),
    name: session.accountName,
    email: session.email,
    plan: session.plan,
    disabled: session.disabled,
  },
});
