import { MAIL_KINDS, type MailKind } from '@vat/domain';
import type { Database, Queryable } from '../connect-database.js';
import { query, typed } from '../query.js';

/** Kinds of mail, each on or off. */
export type MailChoice = Record<MailKind, boolean>;

const choiceOf = (kinds: readonly string[]): MailChoice =>
  Object.fromEntries(MAIL_KINDS.map((kind) => [kind, kinds.includes(kind)])) as MailChoice;

/** The kinds of mail that a user gets; null when there is no such user. */
export const findMailChoice =
  (db: Database) =>
  async (userId: string): Promise<MailChoice | null> => {
    const user = await db.user.findUnique({ where: { id: userId }, select: { mailKinds: true } });
    return user && choiceOf(user.mailKinds);
  };

/** Turns kinds of mail on or off and returns all of them; null when there is no such user. */
export const changeMailChoice =
  (db: Queryable) =>
  async (
    userId: string,
    changes: { readonly [Kind in MailKind]?: boolean | undefined },
  ): Promise<MailChoice | null> => {
    const turned = (on: boolean) => MAIL_KINDS.filter((kind) => changes[kind] === on);
    // Kinds that only a later release knows stay as they are.
    const [user] = await query(db, { kinds: typed<string[]>('text[]') })`
      UPDATE app_user SET mail_kinds = ARRAY(
        SELECT DISTINCT kind FROM unnest(mail_kinds || ${turned(true)}::text[]) AS kind
        WHERE NOT kind = ANY(${turned(false)}::text[]))
      WHERE id = ${userId}::uuid RETURNING mail_kinds AS kinds`;
    return user ? choiceOf(user.kinds) : null;
  };
