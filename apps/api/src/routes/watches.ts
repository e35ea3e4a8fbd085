import { presentChange, presentWatch, type WATCH_OPERATIONS } from '@vat/contracts';
import {
  AppError,
  amendWatch,
  type RecordedChange,
  type StoredAnswer,
  type StoredId,
  type Watch,
  type WatchCall,
} from '@vat/domain';
import { found } from '../http/call.js';
import { replyWithPage } from '../http/parse.js';
import type { Routes } from '../http/route.js';

export type WatchRoutesDeps = {
  requestWatch: (call: WatchCall) => Promise<{ answer: StoredAnswer; replayed: boolean }>;
  listWatches: (accountId: string, beforeId: string | null, limit: number) => Promise<Watch[]>;
  findWatch: (id: StoredId<'watch'>, accountId: string) => Promise<Watch | null>;
  /** `null` when there is no such watch. */
  listChanges: (
    watchId: StoredId<'watch'>,
    accountId: string,
    beforeId: string | null,
    limit: number,
  ) => Promise<RecordedChange[] | null>;
  /** Decides on the change and writes it in one transaction; `null` when there is no such watch. */
  changeWatch: (
    id: StoredId<'watch'>,
    accountId: string,
    amend: (watch: Watch, active: number | null) => Watch,
  ) => Promise<Watch | null>;
  deleteWatch: (id: StoredId<'watch'>, accountId: string) => Promise<boolean>;
  now: () => Date;
};

/** The routes of /v1/watches. */
export const watchRoutes = (deps: WatchRoutesDeps): Pick<Routes, keyof typeof WATCH_OPERATIONS> => ({
  createWatch: ({ caller, body, idempotencyOf }) =>
    deps.requestWatch({
      caller,
      vatNumber: body.vat_number,
      countryCode: body.country_code,
      label: body.label ?? null,
      frequency: body.frequency,
      requester: body.requester_vat_number,
      idempotency: idempotencyOf(body),
    }),

  listWatches: ({ caller: { accountId }, query }) => {
    const find = (before: string | null, limit: number) => deps.listWatches(accountId, before, limit);
    return replyWithPage(query, ['watches', accountId], find, presentWatch);
  },

  getWatch: async ({ id, caller }) => {
    const watch = found(await deps.findWatch(id, caller.accountId));
    return { status: 200, body: presentWatch(watch) };
  },

  updateWatch: async ({ id, caller: { accountId, plan }, body }) => {
    const changed = await deps.changeWatch(id, accountId, (watch, active) =>
      amendWatch(watch, body, { plan, active }, deps.now()),
    );
    return { status: 200, body: presentWatch(found(changed)) };
  },

  deleteWatch: async ({ id, caller }) => {
    if (!(await deps.deleteWatch(id, caller.accountId))) throw new AppError('NOT_FOUND');
    return { status: 204 };
  },

  listWatchChanges: ({ id, caller, query }) => {
    const find = async (before: string | null, limit: number) =>
      found(await deps.listChanges(id, caller.accountId, before, limit));
    return replyWithPage(query, ['changes', id], find, presentChange);
  },
});
