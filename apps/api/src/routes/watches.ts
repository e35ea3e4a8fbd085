import { pageListQuery, presentChange, presentWatch, watchAmendmentBody, watchRequestBody } from '@vat/contracts';
import { AppError, amendWatch, type RecordedChange, type StoredAnswer, type Watch, type WatchCall } from '@vat/domain';
import type { RequestHandler } from 'express';
import { sendAnswer } from '../http/answer.js';
import { callerOf, fingerprintOf, idempotencyKeyOf, ownedId } from '../http/call.js';
import { parse, parseQuery, readPage } from '../http/parse.js';

export type WatchRoutesDeps = {
  requestWatch: (call: WatchCall) => Promise<{ answer: StoredAnswer; replayed: boolean }>;
  listWatches: (accountId: string, beforeId: string | null, limit: number) => Promise<Watch[]>;
  findWatch: (id: string, accountId: string) => Promise<Watch | null>;
  /** `null` when there is no such watch. */
  listChanges: (
    watchId: string,
    accountId: string,
    beforeId: string | null,
    limit: number,
  ) => Promise<RecordedChange[] | null>;
  /** Judges and writes the change in one transaction; `null` when there is no such watch. */
  changeWatch: (
    id: string,
    accountId: string,
    amend: (watch: Watch, active: number | null) => Watch,
  ) => Promise<Watch | null>;
  deleteWatch: (id: string, accountId: string) => Promise<boolean>;
  now: () => Date;
};

/** The routes of /v1/watches. */
export const watchRoutes = (deps: WatchRoutesDeps) => {
  const create: RequestHandler = async (req, res) => {
    const caller = callerOf(res);
    const body = parse(watchRequestBody, req.body);
    const key = idempotencyKeyOf(req, caller);
    const { answer, replayed } = await deps.requestWatch({
      caller,
      vatNumber: body.vat_number,
      countryCode: body.country_code,
      label: body.label ?? null,
      frequency: body.frequency,
      requester: body.requester_vat_number,
      idempotency: key === null ? null : { key, fingerprint: fingerprintOf(req, body) },
    });
    sendAnswer(res, answer, replayed);
  };

  const list: RequestHandler = async (req, res) => {
    const { accountId } = callerOf(res);
    const asked = parseQuery(pageListQuery, req.query);
    const { rows, nextCursor } = await readPage(asked, ['watches', accountId], (before, most) =>
      deps.listWatches(accountId, before, most),
    );
    res.json({ data: rows.map(presentWatch), next_cursor: nextCursor });
  };

  const show: RequestHandler = async (req, res) => {
    const watch = await deps.findWatch(ownedId('watch', req.params.id), callerOf(res).accountId);
    if (!watch) throw new AppError('NOT_FOUND');
    res.json(presentWatch(watch));
  };

  const change: RequestHandler = async (req, res) => {
    const { accountId, plan } = callerOf(res);
    const amendment = parse(watchAmendmentBody, req.body);
    const changed = await deps.changeWatch(ownedId('watch', req.params.id), accountId, (watch, active) =>
      amendWatch(watch, amendment, { plan, active }, deps.now()),
    );
    if (!changed) throw new AppError('NOT_FOUND');
    res.json(presentWatch(changed));
  };

  const remove: RequestHandler = async (req, res) => {
    const removed = await deps.deleteWatch(ownedId('watch', req.params.id), callerOf(res).accountId);
    if (!removed) throw new AppError('NOT_FOUND');
    res.status(204).end();
  };

  const listChanges: RequestHandler = async (req, res) => {
    const asked = parseQuery(pageListQuery, req.query);
    const id = ownedId('watch', req.params.id);
    const { rows, nextCursor } = await readPage(asked, ['changes', id], async (before, most) => {
      const found = await deps.listChanges(id, callerOf(res).accountId, before, most);
      if (!found) throw new AppError('NOT_FOUND');
      return found;
    });
    res.json({ data: rows.map(presentChange), next_cursor: nextCursor });
  };

  return { create, list, show, change, remove, listChanges };
};
