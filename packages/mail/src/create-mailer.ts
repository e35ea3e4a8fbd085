import { createTransport } from 'nodemailer';
import type { RenderedLetter } from './render-letter.js';

/** Whom mail comes from; MAIL_FROM. */
type Mailbox = { name: string; address: string };

type MailerOptions = {
  /** SMTP_URL: smtps://, or smtp://, which uses STARTTLS where the server offers it, and requires it, with a trusted certificate, to send a password. */
  url: string;
  from: Mailbox;
  /** The time within which the server must connect, greet, and answer each step, in milliseconds. */
  timeoutMs?: number;
};

/** A letter to one person. */
export type OutgoingMail = RenderedLetter & {
  to: string;
  /** Unique; the same at every attempt, so that mailboxes recognise a repetition. */
  id: string;
  /** Where this kind of mail is turned off, by a page and in one click (RFC 8058). */
  unsubscribeUrl?: string;
};

type Mailer = {
  /** Resolves once the server has accepted the mail. Rejects with what {@link mailFailure} describes, or when `abort` aborts. */
  send: (mail: OutgoingMail, abort: AbortSignal) => Promise<void>;
  close: () => void;
};

/** Mails that one process sends at a time. */
const CONNECTIONS = 3;
const TIMEOUT_MS = 15_000;
/** A mail has eight steps, of DNS to the end of its text; a server that answers one line by line stays within the time of each. */
const STEPS = 8;
const PORTS = { 'smtp:': 587, 'smtps:': 465 } as const;

/** One address and nothing that mail programs read as several, or as a comment. */
const ADDRESS = /^[^\s<>()[\]\\,;:"\p{Cc}]+@[^\s<>()\\,;"\p{Cc}]+$/u;

/** Sends mail over SMTP, on connections that are kept open while there is mail. */
export const createMailer = ({ url, from, timeoutMs = TIMEOUT_MS }: MailerOptions): Mailer => {
  const { protocol, hostname, port, username, password } = new URL(url);
  const secure = protocol === 'smtps:';
  const hasPassword = username !== '';
  const transport = createTransport({
    pool: true,
    maxConnections: CONNECTIONS,
    // A mail whose connection ends is not sent again here: the server may have accepted it.
    maxRequeues: 0,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? PORTS[secure ? 'smtps:' : 'smtp:'] : Number(port),
    secure,
    requireTLS: !secure && hasPassword,
    // Without a password, which alone requires encryption, a relay in one's own network may have any certificate, as Postfix has.
    ...(!secure && !hasPassword && { tls: { rejectUnauthorized: false } }),
    ...(hasPassword && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    dnsTimeout: timeoutMs,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1);
  return {
    send: async ({ to, id, subject, text, html, unsubscribeUrl }, abort) => {
      abort.throwIfAborted();
      if (!ADDRESS.test(to)) throw Object.assign(new Error('The address cannot be used.'), { code: 'EADDRESS' });
      await transport.sendMail({
        signal: AbortSignal.any([abort, AbortSignal.timeout(STEPS * timeoutMs)]),
        from,
        to: { name: '', address: to },
        messageId: `<${id}@${domain}>`,
        subject,
        text,
        html,
        // Not answered by programs that answer for somebody who is absent (RFC 3834).
        headers: {
          'Auto-Submitted': 'auto-generated',
          ...(unsubscribeUrl !== undefined && { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' }),
        },
        ...(unsubscribeUrl !== undefined && { list: { unsubscribe: unsubscribeUrl } }),
      });
    },
    close: () => transport.close(),
  };
};

/** What {@link mailFailure} returns for an error that is not of a mail server. */
export const UNKNOWN_FAILURE = 'INTERNAL';

/**
 * Why a mail was not sent, for logs: the code, the server's status and the step, such as `EENVELOPE 550 RCPT TO`. The texts of servers
 * contain addresses and are left out.
 */
export const mailFailure = (error: unknown): string => {
  const { code, responseCode, command } = (error ?? {}) as Record<string, unknown>;
  const parts = [code, responseCode, command].filter((part) => typeof part === 'string' || typeof part === 'number');
  return parts.length > 0 ? parts.join(' ').slice(0, 100) : UNKNOWN_FAILURE;
};
