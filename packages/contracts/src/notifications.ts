import { MAIL_KINDS, type MailKind } from '@vat/domain';
import { z } from 'zod';

/** Body of PATCH /app/api/notifications: kinds of e-mail to turn on or off; the others stay as they are. */
export const notificationsBody = z.strictObject(
  Object.fromEntries(MAIL_KINDS.map((kind) => [kind, z.boolean().optional()])) as Record<
    MailKind,
    z.ZodOptional<z.ZodBoolean>
  >,
);

/** Response of GET and PATCH /app/api/notifications. `mailConfigured`: whether the service sends e-mail at all. */
export const presentNotifications = (kinds: Readonly<Record<MailKind, boolean>>, mailConfigured: boolean) => ({
  mail_configured: mailConfigured,
  ...kinds,
});
