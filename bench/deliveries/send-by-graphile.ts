// A program: the same job with graphile-worker and got.
import { Logger, run } from 'graphile-worker';
import pg from 'pg';
import { postAndLog } from './post-and-log.js';

const { DATABASE_URL = '', SENDER_LOOPS = '1' } = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 20 });
const send = postAndLog(pool, true);
const runner = await run({
  pgPool: pool,
  concurrency: Number(SENDER_LOOPS),
  noHandleSignals: true,
  logger: new Logger(() => (level, message) => {
    if (level === 'error') console.error(message);
  }),
  taskList: { deliver: (payload) => send((payload as { id: string }).id) },
});
process.once('SIGTERM', () => void runner.stop().then(() => process.exit(0)));
process.send?.({});
