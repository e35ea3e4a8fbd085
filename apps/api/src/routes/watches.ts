import { presentChange, presentWatch } from '@vat/contracts';
import {
  AppError,
  amendWatch,
  type RecordedChange,
  type StoredAnswer,
  type StoredId,
  type Watch,
  type WatchCall,
} from '@vat/domain';
import { readPage } from '../http/parse.js';
import type { Routes } from './route.js';

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

type WatchRoutes = Pick<
  Routes,
  'createWatch' | 'listWatches' | 'getWatch' | 'updateWatch' | 'deleteWatch' | 'listWatchChanges'
>;

/** The routes of /v1/watches. */
export const watchRoutes = (deps: WatchRoutesDeps): WatchRoutes => ({
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

  listWatches: async ({ caller: { accountId }, query }) => {
    const { rows, nextCursor } = await readPage(query, ['watches', accountId], (before, limit) =>
      deps.listWatches(accountId, before, limit),
    );
    return { status: 200, body: { data: rows.map(presentWatch), next_cursor: nextCursor } };
  },

  getWatch: async ({ id, caller }) => {
    const watch = await deps.findWatch(id, caller.accountId);
    if (!watch) throw new AppError('NOT_FOUND');
    return { status: 200, body: presentWatch(watch) };
  },

  updateWatch: async ({ id, caller: { accountId, plan }, body }) => {
    const changed = await deps.changeWatch(id, accountId, (watch, active) =>
      amendWatch(watch, body, { plan, active }, deps.now()),
    );
    if (!changed) throw new AppError('NOT_FOUND');
    return { status: 200, body: presentWatch(changed) };
  },

  deleteWatch: async ({ id, caller }) => {
    if (!(await deps.deleteWatch(id, caller.accountId))) throw new AppError('NOT_FOUND');
    return { status: 204 };
  },

  listWatchChanges: async ({ id, caller, query }) => {
    const { rows, nextCursor } = await readPage(query, ['changes', id], async (before, limit) => {
      const found = await deps.listChanges(id, caller.accountId, before, limit);
      if (!found) throw new AppError('NOT_FOUND');
      return found;
    });
    return { status: 200, body: { data: rows.map(presentChange), next_cursor: nextCursor } };
  },
});
