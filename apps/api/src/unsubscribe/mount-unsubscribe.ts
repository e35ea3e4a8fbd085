import type { MailChoice } from '@vat/db';
import { MAIL_KIND_NAMES, type MailKind, type Unsubscription } from '@vat/domain';
import type { IRouter, RequestHandler, Response } from 'express';
import { dropRestOfBody } from '../http/connection.js';
import { renderPublicPage } from '../http/render-public-page.js';
import { resource } from '../http/resource.js';
import { secure } from '../http/secure.js';
import { type LimitNetworkRateDeps, limitNetworkRate } from '../middleware/limit-rate.js';
import { STATUS_STYLE } from '../public-status/status-style.js';

export type UnsubscribeDeps = LimitNetworkRateDeps & {
  /** What a link turns off; null for a text that is no such link. */
  readUnsubscribeLink: (link: string) => Promise<Unsubscription | null>;
  /** Null when there is no such user. */
  changeMailChoice: (
    userId: string,
    changes: { [Kind in MailKind]?: boolean | undefined },
  ) => Promise<MailChoice | null>;
};

const BUTTON =
  'justify-self:start;padding:9px 16px;border:0;border-radius:8px;background:var(--accent);color:var(--surface);font:inherit;font-weight:600;cursor:pointer';
const SETTINGS = '<p class="soft small">All notifications are in the <a href="/app/settings">settings</a>.</p>';

/** A page; everything in it comes from fixed lists. */
const pageOf = (title: string, content: string): string =>
  renderPublicPage({ title, style: STATUS_STYLE, content: `<h1>${title}</h1>\n${content}` });

const question = (kind: MailKind): string =>
  pageOf(
    `Turn off notifications about ${MAIL_KIND_NAMES[kind]}?`,
    `<p>You will get no more e-mail about ${MAIL_KIND_NAMES[kind]}. Other notifications stay as they are.</p>
<form method="post"><button style="${BUTTON}">Turn off</button></form>
${SETTINGS}`,
  );

const confirmation = (kind: MailKind): string =>
  pageOf(
    `Notifications about ${MAIL_KIND_NAMES[kind]} are off`,
    `<p>You will get no more e-mail about ${MAIL_KIND_NAMES[kind]}.</p>\n${SETTINGS}`,
  );

const UNKNOWN = pageOf('This link is not valid', `<p>Copy the whole link from the e-mail.</p>\n${SETTINGS}`);

/**
 * Mounts /unsubscribe/<user id>.<kind>.<token>, the link at the end of a mail. GET shows a question and changes nothing, since
 * mail programs open links to scan them. POST turns the kind off: from the page, and from mailboxes in one click (RFC 8058),
 * which have no session. The body of the POST says nothing more and is not read.
 */
export const mountUnsubscribe = (app: IRouter, deps: UnsubscribeDeps): void => {
  const send = (res: Response, page: string | null): void =>
    void res
      .status(page === null ? 404 : 200)
      .type('html')
      .send(page ?? UNKNOWN);

  const showQuestion: RequestHandler = async (req, res) => {
    const link = await deps.readUnsubscribeLink(String(req.params.link));
    send(res, link && question(link.kind));
  };

  const turnOff: RequestHandler = async (req, res) => {
    const link = await deps.readUnsubscribeLink(String(req.params.link));
    const changed = link && (await deps.changeMailChoice(link.userId, { [link.kind]: false }));
    dropRestOfBody(req, res);
    send(res, link && changed && confirmation(link.kind));
  };

  const before = [secure('unsubscribe'), limitNetworkRate(deps)];
  resource(app, '/unsubscribe/:link', { get: [...before, showQuestion], post: [...before, turnOff] });
};
