import { isLinkToken, linkToken } from '../check/public-link.js';
import { publicId, type StoredId, uuidOf } from '../ids.js';
import { MAIL_KINDS, type MailKind } from './mail.js';

/** A user and the kind of mail that the user is about to turn off. */
export type Unsubscription = { userId: StoredId<'user'>; kind: MailKind };

const FORM = /^(usr_[0-9a-z]{26})\.([a-z_]{1,30})\.([A-Za-z0-9_-]{24})$/;

const textOf = ({ userId, kind }: { userId: string; kind: MailKind }): string => `unsubscribe ${userId} ${kind}`;

/**
 * Makes and reads the links at the end of mails, with which one kind of mail is turned off without signing in. Their tokens are made
 * with the key of public links, so they outlive changes of SECRET_KEY, as mails do.
 */
export const unsubscribeLinks = (readKey: () => Promise<Uint8Array>) => ({
  /** The path of the page: `/unsubscribe/<user id>.<kind>.<token>`. */
  pathOf: async (of: { userId: string; kind: MailKind }): Promise<string> =>
    `/unsubscribe/${publicId('user', of.userId)}.${of.kind}.${linkToken(await readKey(), textOf(of))}`,
  /** What the last part of such a path turns off; null when it is ill-formed or its token is another one. */
  read: async (link: string): Promise<Unsubscription | null> => {
    const [, id = '', name = '', token = ''] = FORM.exec(link) ?? [];
    const userId = uuidOf('user', id);
    const kind = MAIL_KINDS.find((known) => known === name);
    if (userId === null || kind === undefined) return null;
    return isLinkToken(await readKey(), textOf({ userId, kind }), token) ? { userId, kind } : null;
  },
});
