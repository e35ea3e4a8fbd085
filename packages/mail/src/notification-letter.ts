import {
  type CompletedBatch,
  type FailedDelivery,
  MAIL_KIND_NAMES,
  type MailFacts,
  type MailKind,
  type PendingMail,
  periodEnd,
  publicId,
} from '@vat/domain';
import { type Letter, oneLine, type RenderedLetter, renderLetter } from './render-letter.js';

const number = (value: number): string => new Intl.NumberFormat('en').format(value);
const counted = (n: number, one: string, many: string): string => `${number(n)} ${n === 1 ? one : many}`;
const moment = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
const day = (at: Date): string => new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(at);
const monthOf = (period: string): string =>
  new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(
    new Date(`${period}-01T00:00:00Z`),
  );

type Content = Omit<Letter, 'footer' | 'more'>;
/** The account of the mail, how many things happened, and the beginning of every link. */
type About = { account: string; count: number; base: string };
type Facts<Kind extends MailKind> = Extract<MailFacts, { kind: Kind }>;

const describeDelivery = ({ eventType, statusCode, error, at }: FailedDelivery): string => {
  // The error begins with its code: `TIMEOUT: …`.
  const reason = statusCode === null ? (error?.split(':')[0] ?? 'no response') : `HTTP ${statusCode}`;
  return `${eventType ?? 'event'}: ${oneLine(reason)}, last attempt ${moment(at)}`;
};

const aboutDeliveries = ({ deliveries }: Facts<'failed_deliveries'>, { account, count, base }: About): Content => {
  const what = count === 1 ? 'A webhook delivery failed' : `${number(count)} webhook deliveries failed`;
  const [first] = deliveries;
  return {
    subject: what,
    heading: `${what} for ${account}`,
    items: deliveries.map(describeDelivery),
    paragraphs: [
      'Your endpoint did not accept the events, and all attempts are used up. They are not sent again by themselves.',
      'Correct the endpoint, then resend the deliveries from the dashboard.',
    ],
    link:
      count === 1 && first
        ? { label: 'View the delivery', url: `${base}/app/deliveries/${publicId('delivery', first.id)}` }
        : { label: 'View failed deliveries', url: `${base}/app/deliveries?status=failed` },
  };
};

const aboutQuota = ({ percent, taken, quota, period }: Facts<'quota'>, { account, base }: About): Content => {
  const month = monthOf(period);
  const isUsedUp = percent >= 100;
  const what = isUsedUp ? `All checks of ${month} are used` : `${percent}% of the checks of ${month} are used`;
  return {
    subject: what,
    heading: `${what} for ${account}`,
    paragraphs: [
      `${number(taken)} of ${number(quota)} checks are used or reserved for requests in progress.`,
      isUsedUp
        ? `Further checks are refused with QUOTA_EXCEEDED until ${day(periodEnd(period))} (UTC). To continue before that, ask the operator of the service for a larger plan.`
        : `When all are used, further checks are refused with QUOTA_EXCEEDED until ${day(periodEnd(period))} (UTC).`,
    ],
    link: { label: 'View usage', url: `${base}/app` },
  };
};

const nameOfBatch = ({ label, fileName, id }: CompletedBatch): string =>
  oneLine(label ?? fileName ?? '', 60) || publicId('batch', id);

const describeBatch = (batch: CompletedBatch): string =>
  `${nameOfBatch(batch)}: ${counted(batch.total, 'line', 'lines')}, ${number(batch.valid)} valid, ${number(batch.invalid)} not valid, ${number(batch.failed)} failed`;

const aboutBatches = ({ batches }: Facts<'completed_batches'>, { account, count, base }: About): Content => {
  const [first] = batches;
  const single = count === 1 && first ? first : null;
  const what = single ? `Batch ${nameOfBatch(single)} is complete` : `${number(count)} batches are complete`;
  return {
    subject: what,
    heading: `${what} for ${account}`,
    items: batches.map(describeBatch),
    paragraphs: ['The results can be downloaded as CSV or Excel.'],
    link: single
      ? { label: 'View results', url: `${base}/app/batches/${publicId('batch', single.id)}` }
      : { label: 'View batches', url: `${base}/app/batches` },
  };
};

/** Names and addresses are not mailed: a mailbox is no place for data of traders. */
const describeChange = (change: Facts<'watch_changes'>['changes'][number]): string => {
  if (change.kind !== 'validity') return `${change.vatNumber} has another ${change.kind}`;
  return `${change.vatNumber} is ${change.after ? 'valid again' : 'no longer valid'}`;
};

const aboutChanges = ({ changes }: Facts<'watch_changes'>, { account, count, base }: About): Content => {
  const [first] = changes;
  const single = count === 1 && first ? first : null;
  const what = single ? describeChange(single) : `${number(count)} changes of watched numbers`;
  return {
    subject: what,
    heading: `${what} (${account})`,
    items: changes.map((change) =>
      change.label === null ? describeChange(change) : `${describeChange(change)} (${oneLine(change.label, 60)})`,
    ),
    paragraphs: ['The dashboard shows what changed, with the check that found it.'],
    link: single
      ? { label: 'View the watch', url: `${base}/app/watches/${publicId('watch', single.watchId)}` }
      : { label: 'View watches', url: `${base}/app/watches` },
  };
};

const contentOf = (facts: MailFacts, about: About): Content => {
  switch (facts.kind) {
    case 'failed_deliveries':
      return aboutDeliveries(facts, about);
    case 'quota':
      return aboutQuota(facts, about);
    case 'completed_batches':
      return aboutBatches(facts, about);
    case 'watch_changes':
      return aboutChanges(facts, about);
  }
};

/** The letter of a mail. `baseUrl`: BASE_URL without a slash at its end. */
export const notificationLetter = (
  mail: Pick<PendingMail, 'itemCount' | 'accountName' | 'email'>,
  facts: MailFacts,
  { baseUrl, unsubscribeUrl }: { baseUrl: string; unsubscribeUrl: string },
): RenderedLetter => {
  const about = { account: oneLine(mail.accountName, 60), count: mail.itemCount, base: baseUrl };
  const content = contentOf(facts, about);
  const listed = content.items?.length ?? 0;
  return renderLetter({
    ...content,
    more: listed > 0 ? mail.itemCount - listed : 0,
    footer: [
      {
        text: `You get this because notifications about ${MAIL_KIND_NAMES[facts.kind]} are on for ${oneLine(mail.email, 254)}.`,
      },
      { label: 'Turn them off', url: unsubscribeUrl },
      { label: 'All notifications', url: `${baseUrl}/app/settings` },
    ],
  });
};
