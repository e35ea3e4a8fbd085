import { presentRequest } from '@vat/contracts';
import { AppError, type FindRequest, publicCheck } from '@vat/domain';
import type { RequestHandler } from 'express';
import { callerOf } from '../http/context.js';
import { ownedId } from '../http/owned-id.js';

/** GET /v1/requests/{id}. A withdrawn request was refused to its caller, so there is nothing to read. */
export const showRequest =
  (find: FindRequest): RequestHandler =>
  async (req, res) => {
    const found = await find(ownedId('request', req.params.id), callerOf(res).accountId);
    if (!found || found.request.state === 'withdrawn') throw new AppError('NOT_FOUND');
    res.json(presentRequest(found.request, found.check && publicCheck(found.check)));
  };
