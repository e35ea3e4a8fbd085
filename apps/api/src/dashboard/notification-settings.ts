import { notificationsBody, presentNotifications } from '@vat/contracts';
import type { MailChoice } from '@vat/db';
import { AppError } from '@vat/domain';
import type { RequestHandler } from 'express';
import { parse } from '../http/parse.js';
import type { UnsubscribeDeps } from '../unsubscribe/mount-unsubscribe.js';
import { sessionOf } from './session.js';

export type NotificationSettingsDeps = Pick<UnsubscribeDeps, 'changeMailChoice'> & {
  /** Whether the service has a mail server. */
  mailConfigured: boolean;
  findMailChoice: (userId: string) => Promise<MailChoice | null>;
};

/** The routes of /app/api/notifications: the e-mail that the signed-in user gets. */
export const notificationSettings = ({
  mailConfigured,
  findMailChoice,
  changeMailChoice,
}: NotificationSettingsDeps) => {
  /** The user may have been deleted since the session was read. */
  const present = (choice: MailChoice | null) => {
    if (!choice) throw new AppError('UNAUTHORIZED', { message: 'Sign in first.' });
    return presentNotifications(choice, mailConfigured);
  };

  const show: RequestHandler = async (_req, res) => {
    res.json(present(await findMailChoice(sessionOf(res).userId)));
  };

  const change: RequestHandler = async (req, res) => {
    res.json(present(await changeMailChoice(sessionOf(res).userId, parse(notificationsBody, req.body))));
  };

  return { show, change };
};
