import { encodeCursor, presentOverview, presentRequest, requestListQuery } from '@vat/contracts';
import type { AcceptedState, Overview, RequestWithCheck } from '@vat/db';
import { publicCheck } from '@vat/domain';
import type { RequestHandler } from 'express';
import { parseQuery } from '../http/parse-query.js';
import { readCursor } from '../http/read-cursor.js';
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
    const { limit, cursor, status } = parseQuery(requestListQuery, req.query);
    const found = await listRequests(sessionOf(res).accountId, status, readCursor(cursor), limit + 1);
    const page = found.slice(0, limit);
    const last = page.at(-1);
    res.json({
      data: page.map(({ request, check }) => presentRequest(request, check && publicCheck(check))),
      next_cursor: found.length > limit && last ? encodeCursor(last.request.id) : null,
    });
  };

  return { overview, requests };
};
