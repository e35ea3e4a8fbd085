import { createKeyBody, pageListQuery, presentKey } from '@vat/contracts';
import type { ApiKeySummary } from '@vat/db';
import { AppError, issueKey, MAX_KEYS, type NewKey, publicId } from '@vat/domain';
import type { RequestHandler } from 'express';
import { ownedId } from '../http/owned-id.js';
import { parse } from '../http/parse.js';
import { parseQuery } from '../http/parse-query.js';
import { readPage } from '../http/read-page.js';
import { sessionOf } from './session-of.js';

export type KeyRoutesDeps = {
  listKeys: (accountId: string, beforeId: string | null, limit: number) => Promise<ApiKeySummary[]>;
  /** False when the account has so many live keys already. */
  insertKey: (accountId: string, key: NewKey, now: Date, maxKeys: number) => Promise<boolean>;
  /** False when the account has no such key. */
  revokeKey: (accountId: string, keyId: string, now: Date) => Promise<boolean>;
  now: () => Date;
};

/** The routes of /app/api/keys. */
export const keyRoutes = ({ listKeys, insertKey, revokeKey, now }: KeyRoutesDeps) => {
  const list: RequestHandler = async (req, res) => {
    const { accountId } = sessionOf(res);
    const asked = parseQuery(pageListQuery, req.query);
    const { rows, nextCursor } = await readPage(asked, ['keys', accountId], (before, most) =>
      listKeys(accountId, before, most),
    );
    res.json({ data: rows.map(presentKey), next_cursor: nextCursor });
  };

  const create: RequestHandler = async (req, res) => {
    const { name, test } = parse(createKeyBody, req.body);
    const { key, stored } = issueKey(name, test);
    if (!(await insertKey(sessionOf(res).accountId, stored, now(), MAX_KEYS))) {
      throw new AppError('KEY_LIMIT', { extra: { limit: MAX_KEYS } });
    }
    res.status(201).json({ key_id: publicId('key', stored.id), key });
  };

  const revoke: RequestHandler = async (req, res) => {
    const revoked = await revokeKey(sessionOf(res).accountId, ownedId('key', req.params.id), now());
    if (!revoked) throw new AppError('NOT_FOUND');
    res.status(204).end();
  };

  return { list, create, revoke };
};
