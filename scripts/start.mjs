// @ts-check
// `npm start`: prepares a fresh clone and runs the service. The supervisor (apps/stack) runs in this process, so that it
// receives the signals that npm passes on.
import { prepare } from './prepare.mjs';

try {
  await prepare();
} catch (error) {
  process.stderr.write(`[prepare] ${/** @type {Error} */ (error).message}\n`);
  process.exit(1);
}
await import('../apps/stack/dist/main.js');
