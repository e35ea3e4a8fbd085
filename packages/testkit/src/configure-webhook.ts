import { uuidOf } from '@vat/domain';
import type { World } from './start-world.js';

/** Sets the endpoint of an account (`acc_…`) as the dashboard does, and returns the secret as its user would see it. */
export const configureWebhook = async (
  world: Pick<World, 'sql' | 'settings'>,
  account: { account_id: string },
  url: string,
): Promise<string> => {
  const accountId = uuidOf('account', account.account_id);
  if (accountId === null) throw new Error(`${account.account_id} is no account id`);
  // Not by every test of a world, most of which have no webhook.
  const { newWebhookSecret, sealSecret, secretPrefix } = await import('@vat/webhooks');
  const secret = newWebhookSecret();
  const sealed = sealSecret(String(world.settings.SECRET_KEY), accountId, secret);
  await world.sql(
    `INSERT INTO webhook (account_id, url, secret_sealed, secret_prefix, configured_at) VALUES ($1, $2, $3, $4, now())
     ON CONFLICT (account_id) DO UPDATE SET url = excluded.url, secret_sealed = excluded.secret_sealed,
       secret_prefix = excluded.secret_prefix, configured_at = excluded.configured_at`,
    [accountId, url, sealed, secretPrefix(secret)],
  );
  return secret;
};
