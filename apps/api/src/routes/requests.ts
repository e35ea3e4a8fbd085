import { presentCheck, presentRequest } from '@vat/contracts';
import { AppError, type FindEvidence, type FindRequest } from '@vat/domain';
import type { RequestHandler } from 'express';
import { readerOf } from '../http/context.js';
import { ownedId } from '../http/owned-id.js';

export type RequestDeps = { findRequest: FindRequest; findEvidence: FindEvidence };

/** GET /v1/requests/{id}. A withdrawn request was refused to its caller, so there is nothing to read. */
export const showRequest =
  ({ findRequest, findEvidence }: RequestDeps): RequestHandler =>
  async (req, res) => {
    const found = await findRequest(ownedId('request', req.params.id), readerOf(res));
    if (!found || found.request.state === 'withdrawn') throw new AppError('NOT_FOUND');
    const { request, check } = found;
    const shown = check && presentCheck(check, (await findEvidence([check.id])).get(check.id));
    res.json(presentRequest(request, shown));
  };
