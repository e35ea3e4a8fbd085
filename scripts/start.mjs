// @ts-check
// `npm start`: one command from a fresh clone to a running service. The supervisor (apps/stack) runs in this very process,
// so that the signals npm passes on reach it.
import { prepare } from './prepare.mjs';

try {
  await prepare();
} catch (error) {
  process.stderr.write(`[prepare] ${/** @type {Error} */ (error).message}\n`);
  process.exit(1);
}
await import('../apps/stack/dist/main.js');
