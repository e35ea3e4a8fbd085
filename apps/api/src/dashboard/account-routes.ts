import {
  createKeyBody,
  pageListQuery,
  presentKey,
  presentOverview,
  presentRequest,
  requestListQuery,
} from '@vat/contracts';
import type { AcceptedState, Overview } from '@vat/db';
import {
  type ApiKeySummary,
  AppError,
  type createKey,
  publicCheck,
  publicId,
  type RequestWithCheck,
} from '@vat/domain';
import type { RequestHandler } from 'express';
import { ownedId } from '../http/call.js';
import { parse, parseQuery, replyWithPage } from '../http/parse.js';
import { sessionOf } from './session.js';

export type AccountReadingsDeps = {
  readOverview: (accountId: string, now: Date) => Promise<Overview>;
  listRequests: (
    accountId: string,
    status: AcceptedState | undefined,
    beforeId: string | null,
    limit: number,
  ) => Promise<RequestWithCheck[]>;
  now: () => Date;
};

/** The routes that only the dashboard's pages read: /app/api/overview and /app/api/requests. */
export const accountReadings = ({ readOverview, listRequests, now }: AccountReadingsDeps) => {
  const overview: RequestHandler = async (_req, res) => {
    res.json(presentOverview(await readOverview(sessionOf(res).accountId, now())));
  };

  const requests: RequestHandler = async (req, res) => {
    const { accountId } = sessionOf(res);
    const { status, ...page } = parseQuery(requestListQuery, req.query);
    const find = async (before: string | null, limit: number) =>
      (await listRequests(accountId, status, before, limit)).map((row) => ({ ...row, id: row.request.id }));
    const { body } = await replyWithPage(page, ['requests', accountId, status], find, ({ request, check }) =>
      presentRequest(request, check && publicCheck(check)),
    );
    res.json(body);
  };

  return { overview, requests };
};

export type KeyRoutesDeps = {
  listKeys: (accountId: string, beforeId: string | null, limit: number) => Promise<ApiKeySummary[]>;
  createKey: ReturnType<typeof createKey>;
  /** False when the account has no such key. */
  revokeKey: (accountId: string, keyId: string, now: Date) => Promise<boolean>;
  now: () => Date;
};

/** The routes of /app/api/keys. */
export const keyRoutes = ({ listKeys, createKey, revokeKey, now }: KeyRoutesDeps) => {
  const list: RequestHandler = async (req, res) => {
    const { accountId } = sessionOf(res);
    const page = parseQuery(pageListQuery, req.query);
    const find = (before: string | null, limit: number) => listKeys(accountId, before, limit);
    res.json((await replyWithPage(page, ['keys', accountId], find, presentKey)).body);
  };

  const create: RequestHandler = async (req, res) => {
    const { name, test } = parse(createKeyBody, req.body);
    const { id, key } = await createKey(sessionOf(res).accountId, name, test);
    res.status(201).json({ key_id: publicId('key', id), key });
  };

  const revoke: RequestHandler = async (req, res) => {
    const revoked = await revokeKey(sessionOf(res).accountId, ownedId('key', req.params.id), now());
    if (!revoked) throw new AppError('NOT_FOUND');
    res.status(204).end();
  };

  return { list, create, revoke };
};
