// A program: the same deliveries without a queue. SENDER_LOOPS loops read, sign, post and log one after the other.
import pg from 'pg';
import { postAndLog } from './post-and-log.js';

const { DATABASE_URL = '', SENDER_LOOPS = '1' } = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 20 });
const send = postAndLog(pool, true);
const { rows } = await pool.query<{ id: string }>(`SELECT id FROM delivery WHERE state = 'pending' ORDER BY id`);
process.once('SIGTERM', () => process.exit(0));
process.send?.({});
const loop = async (): Promise<void> => {
  for (let next = rows.pop(); next; next = rows.pop()) await send(next.id);
};
await Promise.all(Array.from({ length: Number(SENDER_LOOPS) }, loop));
// Ends when it is stopped, so that its connections stay open and the CPU time of their backends is counted.
