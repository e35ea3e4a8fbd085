import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import {
  claimMail,
  createMail,
  deleteMail,
  findPublicLinkKey,
  listDueMails,
  listReachedQuotas,
  listWaitingItems,
  noteQuota,
  readMailFacts,
  recordMail,
  releaseMail,
  runAlone,
  storePublicLinkKey,
} from '@vat/db';
import {
  collectMails,
  type InvitationFacts,
  invitationPath,
  invitationTokenOf,
  type MailFacts,
  type MailOutcome,
  openPublicLinkKey,
  type PendingMail,
  sendMail,
  unsubscribeLinks,
} from '@vat/domain';
import { createMailer, invitationLetter, mailFailure, notificationLetter, UNKNOWN_FAILURE } from '@vat/mail';
import { enqueueMails, type JobHandler, type MailJob, mailQueue } from '@vat/queues';
import { deriveBaseUrl, errorFields, throttledLog, throttledWarn } from '@vat/runtime';
import type { WorkerContext } from './worker-context.js';

/** E-mail notifications and invitations; null without a mail server. */
export const composeMail = (context: WorkerContext, abort: AbortSignal) => {
  const { settings, log, now, metrics, db, producer } = context;
  const { SMTP_URL: url, MAIL_FROM: from } = settings;
  if (url === undefined || from === undefined) return null;
  const mailer = createMailer({ url, from });
  // Every mail in flight adds a listener; this is not a leak.
  setMaxListeners(0, abort);

  const baseUrl = deriveBaseUrl(settings);
  const openKey = openPublicLinkKey({
    find: findPublicLinkKey(db),
    store: storePublicLinkKey(db),
    masterKey: settings.SECRET_KEY,
    previousKey: settings.SECRET_KEY_PREVIOUS,
  });
  const readKey = () => openKey(now());
  const links = unsubscribeLinks(readKey);
  const tokenOf = invitationTokenOf(readKey);
  const warnFailure = throttledLog((fields) => log.warn('A mail was not sent; will retry.', fields), now);

  const collect = collectMails({
    listReached: listReachedQuotas(db),
    noteQuota: noteQuota(db),
    listWaiting: listWaitingItems(db),
    create: createMail(db),
    listDue: listDueMails(db),
    enqueue: enqueueMails(producer),
    now,
  });
  const reportAttempt = ({ id, kind, attempts }: PendingMail, outcome: MailOutcome, cause: unknown): void => {
    metrics.mails.inc({ outcome: outcome.state });
    const fields = { mail: id, kind, attempts };
    if (outcome.state === 'sent') {
      log.info('A mail was sent.', fields);
      return;
    }
    // The texts of mail servers contain addresses; those of other errors say what to correct.
    const reason = { reason: outcome.error, ...(outcome.error === UNKNOWN_FAILURE && errorFields(cause)) };
    if (outcome.state === 'pending') warnFailure({ ...fields, ...reason });
    else log.warn('A mail was given up: it could not be sent for a day.', { ...fields, ...reason });
  };
  const letterOf = async (mail: PendingMail, facts: MailFacts | InvitationFacts) => {
    if (facts.kind === 'invitation') {
      const { id, email: to, role, expiresAt } = facts;
      const url = `${baseUrl}${invitationPath(await tokenOf(id))}`;
      const { accountName, email: invitedBy } = mail;
      return { to, ...invitationLetter({ accountName, invitedBy, role, url, expiresAt }) };
    }
    const unsubscribeUrl = `${baseUrl}${await links.pathOf({ userId: mail.userId, kind: facts.kind })}`;
    return { to: mail.email, unsubscribeUrl, ...notificationLetter(mail, facts, { baseUrl, unsubscribeUrl }) };
  };
  const send = sendMail({
    claim: claimMail(db),
    readFacts: readMailFacts(db),
    send: async (mail, facts, signal) => mailer.send({ id: mail.id, ...(await letterOf(mail, facts)) }, signal),
    record: recordMail(db),
    release: releaseMail(db),
    discard: deleteMail(db),
    reasonOf: mailFailure,
    onAttempted: reportAttempt,
    pause: (ms) => pause(ms),
    now,
  });

  const collectAlone = async (stopping: AbortSignal): Promise<void> => {
    const made = (await runAlone(db)('mail', () => collect(stopping)))?.done ?? 0;
    if (made > 0) log.info('Mails were made.', { mails: made });
  };
  const warnCollect = throttledWarn(log, 'Mails were not made or enqueued; the next run is scheduled.', now);

  const mail: JobHandler<MailJob> = async (job, { stopping }) => {
    if (job.task === 'send') {
      // Every mail has a link. With a wrong SECRET_KEY the job fails here, is retried, perhaps by another worker, and no attempt counts.
      await readKey();
      const again = await send(job.mail_id, abort);
      return again === null ? undefined : { again };
    }
    // Not retried, like maintenance: the next run is scheduled.
    await collectAlone(stopping).catch((error: unknown) => {
      metrics.jobErrors.inc({ queue: mailQueue.name });
      warnCollect(error);
    });
    return undefined;
  };
  return { mail, parts: [{ name: 'mail', stop: async () => mailer.close() }] };
};
