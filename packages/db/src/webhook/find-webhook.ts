import type { WebhookConfiguration } from '@vat/domain';
import type { Database } from '../connect-database.js';

/** An account's endpoint as it is shown; `null` when none is set. */
export const findWebhook =
  (db: Database) =>
  (accountId: string): Promise<WebhookConfiguration | null> =>
    db.webhook.findUnique({
      where: { accountId },
      select: { url: true, secretPrefix: true, configuredAt: true },
    });
