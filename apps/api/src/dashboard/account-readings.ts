import { presentOverview, presentRequest, requestListQuery } from '@vat/contracts';
import type { AcceptedState, Overview, RequestWithCheck } from '@vat/db';
import { publicCheck } from '@vat/domain';
import type { RequestHandler } from 'express';
import { parseQuery } from '../http/parse-query.js';
import { readPage } from '../http/read-page.js';
import { sessionOf } from './session-of.js';

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

/** What pages read and the public API does not have: /app/api/overview and /app/api/requests. */
export const accountReadings = ({ readOverview, listRequests, now }: AccountReadingsDeps) => {
  const overview: RequestHandler = async (_req, res) => {
    res.json(presentOverview(await readOverview(sessionOf(res).accountId, now())));
  };

  const requests: RequestHandler = async (req, res) => {
    const { accountId } = sessionOf(res);
    const { status, ...asked } = parseQuery(requestListQuery, req.query);
    const { rows, nextCursor } = await readPage(asked, ['requests', accountId, status], async (before, most) => {
      const found = await listRequests(accountId, status, before, most);
      return found.map((row) => ({ ...row, id: row.request.id }));
    });
    const data = rows.map(({ request, check }) => presentRequest(request, check && publicCheck(check)));
    res.json({ data, next_cursor: nextCursor });
  };

  return { overview, requests };
};
