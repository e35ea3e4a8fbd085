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
import { publicId, requestWatch, type Watch } from '@vat/domain';
import { type ApiContext, HUNG_AFTER_MS } from './api-context.js';
import { type ResponseTo, storedAnswer } from './routes/route.js';
import { keyedMutex } from './turns.js';

/** Composes watches. Creating and changing those of one account runs in turn, since both lock the account's row. */
export const composeWatches = ({ db, baseUrl, now }: Pick<ApiContext, 'db' | 'baseUrl' | 'now'>) => {
  const inTurn = keyedMutex({ hungAfterMs: HUNG_AFTER_MS });
  const create = createWatch(db);
  const change = changeWatch(db);
  return {
    listWatches: listWatches(db),
    findWatch: findWatch(db),
    listChanges: listChanges(db),
    changeWatch: (id: string, accountId: string, amend: (watch: Watch, active: number | null) => Watch) =>
      inTurn(accountId, () => change(id, accountId, amend)),
    deleteWatch: deleteWatch(db),
    requestWatch: requestWatch({
      findKey: findIdempotencyKey(db),
      create: (watch, ...rest) => inTurn(watch.accountId, () => create(watch, ...rest)),
      answerOf: (watch) =>
        storedAnswer<ResponseTo<'createWatch'>>({
          status: 201,
          body: presentWatch(watch),
          headers: { Location: `${baseUrl()}/v1/watches/${publicId('watch', watch.id)}` },
        }),
      now,
    }),
  };
};
