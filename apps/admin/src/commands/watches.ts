import { type Database, findOrFollowWatch, startRun } from '@vat/db';
import { publicId, runWatch, uuidOf } from '@vat/domain';
import { enqueueOverdue } from '@vat/queues';
import type { Commands } from '../command.js';
import { UsageError, withProducer } from '../command.js';

/** watch run. */
export const watchCommands = (db: Database, env: NodeJS.ProcessEnv, now: () => Date): Commands => ({
  'watch run WATCH_ID': async ({ positionals: [id = ''] }) => {
    const uuid = uuidOf('watch', id);
    if (uuid === null) throw new UsageError('Name the watch by its id, wat_….');
    const run = await withProducer(env, now, (producer) =>
      runWatch({
        findOrFollow: findOrFollowWatch(db),
        startRun: startRun(db),
        enqueue: enqueueOverdue(producer),
        now,
      })(uuid),
    );
    if (!run) throw new UsageError(`There is no watch ${id}.`);
    return { watch_id: id, request_id: run.requestId && publicId('request', run.requestId), status: run.status };
  },
});
