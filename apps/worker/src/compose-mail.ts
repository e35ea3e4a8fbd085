import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { REPEAT_WARNING_MS } from '@vat/composition';
import {
  claimMail,
  createMail,
  deleteMail,
  findPublicLinkKey,
  listAccountUsage,
  listDueMails,
  listWaitingItems,
  noteQuota,
  readMailFacts,
  recordMail,
  releaseMail,
  runAlone,
  storePublicLinkKey,
} from '@vat/db';
import { collectMails, openPublicLinkKey, sendMail, unsubscribeLinks } from '@vat/domain';
import { createMailer, mailFailure, notificationLetter, UNKNOWN_FAILURE } from '@vat/mail';
import { enqueueMails, type JobHandler, type MailJob, mailQueue } from '@vat/queues';
import { deriveBaseUrl, errorFields, throttledLog, throttledWarn } from '@vat/runtime';
import type { WorkerContext } from './worker-context.js';

/** E-mail notifications; null without a mail server. */
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
  const links = unsubscribeLinks(() => openKey(now()));
  const warnFailure = throttledLog(
    (fields) => log.warn('A mail was not sent; will retry.', fields),
    REPEAT_WARNING_MS,
    now,
  );

  const collect = collectMails({
    listUsage: listAccountUsage(db),
    noteQuota: noteQuota(db),
    listWaiting: listWaitingItems(db),
    create: createMail(db),
    listDue: listDueMails(db),
    enqueue: enqueueMails(producer),
    now,
  });
  const send = sendMail({
    claim: claimMail(db),
    readFacts: readMailFacts(db),
    send: async (mail, facts, signal) => {
      const unsubscribeUrl = `${baseUrl}${await links.pathOf(mail)}`;
      const letter = notificationLetter(mail, facts, { baseUrl, unsubscribeUrl });
      await mailer.send({ ...letter, id: mail.id, to: mail.email, unsubscribeUrl }, signal);
    },
    record: recordMail(db),
    release: releaseMail(db),
    discard: deleteMail(db),
    reasonOf: mailFailure,
    onAttempted: ({ id, kind, attempts }, outcome, cause) => {
      metrics.mails.inc({ outcome: outcome.state });
      const fields = { mail: id, kind, attempts };
      if (outcome.state === 'sent') return log.info('A mail was sent.', fields);
      // The texts of mail servers contain addresses; those of other errors say what to correct.
      const reason = { reason: outcome.error, ...(outcome.error === UNKNOWN_FAILURE && errorFields(cause)) };
      if (outcome.state === 'pending') warnFailure({ ...fields, ...reason });
      else log.warn('A mail was given up: it could not be sent for a day.', { ...fields, ...reason });
    },
    pause: (ms) => pause(ms),
    now,
  });

  const collectAlone = async (stopping: AbortSignal): Promise<void> => {
    const made = (await runAlone(db)('mail', () => collect(stopping)))?.done ?? 0;
    if (made > 0) log.info('Mails were made.', { mails: made });
  };
  const warnCollect = throttledWarn(
    log,
    'Mails were not made or enqueued; the next run is scheduled.',
    REPEAT_WARNING_MS,
    now,
  );

  const mail: JobHandler<MailJob> = async (job, { stopping }) => {
    if (job.task === 'send') {
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
