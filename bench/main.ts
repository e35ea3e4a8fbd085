import { openGround } from './open-ground.js';
import { measureSlots } from './measure-slots.js';
import { fileURLToPath } from 'node:url';
const ground = await openGround(fileURLToPath(new URL('..', import.meta.url)));
process.env.VAT_TEST_POSTGRES = ground.databaseUrl;
process.env.VAT_TEST_REDIS = ground.redisUrl;
const [n, w, p] = process.argv.slice(2);
try { console.log(JSON.stringify(await measureSlots(ground, { requests: Number(n ?? 6000), workers: Number(w ?? 1), latencyMs: 100, profiled: p === 'p' }), null, 1)); } finally { await ground.stop(); }
process.exit();
