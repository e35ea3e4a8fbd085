import { presentWatch } from '@vat/contracts';
import {
  changeWatch,
  createWatch,
  deleteWatch,
  findIdempotencyKey,
  findWatch,
  listChanges,
  listWatches,
} from '@vat/db';
import { publicId, requestWatch } from '@vat/domain';
import { type ApiContext, HUNG_AFTER_MS } from './api-context.js';
import { createdAnswer } from './http/route.js';
import type { WatchRoutesDeps } from './routes/watches.js';
import { keyedMutex } from './turns.js';

/** Composes watches. Creating and changing those of one account runs in turn, since both lock the account's row. */
export const composeWatches = ({
  db,
  publishChange,
  baseUrl,
  now,
}: Pick<ApiContext, 'db' | 'publishChange' | 'baseUrl' | 'now'>): Omit<WatchRoutesDeps, 'now'> => {
  const inTurn = keyedMutex({ hungAfterMs: HUNG_AFTER_MS });
  const create = createWatch(db);
  const change = changeWatch(db);
  const remove = deleteWatch(db);
  return {
    listWatches: listWatches(db),
    findWatch: findWatch(db),
    listChanges: listChanges(db),
    changeWatch: async (id, accountId, amend) => {
      const changed = await inTurn(accountId, () => change(id, accountId, amend));
      if (changed) publishChange(accountId, 'watches');
      return changed;
    },
    deleteWatch: async (id, accountId) => {
      const deleted = await remove(id, accountId);
      if (deleted) publishChange(accountId, 'watches');
      return deleted;
    },
    requestWatch: requestWatch({
      findKey: findIdempotencyKey(db),
      create: async (watch, ...rest) => {
        const created = await inTurn(watch.accountId, () => create(watch, ...rest));
        publishChange(watch.accountId, 'watches');
        return created;
      },
      answerOf: (watch) =>
        createdAnswer<'createWatch'>(presentWatch(watch), `${baseUrl()}/v1/watches/${publicId('watch', watch.id)}`),
      now,
    }),
  };
};
