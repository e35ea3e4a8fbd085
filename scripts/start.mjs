// @ts-check
// `npm start`: prepares a fresh clone and runs the service. The supervisor (apps/stack) runs in this process, so that it
// receives the signals that npm passes on.
import { prepareOrExit } from './prepare.mjs';

await prepareOrExit();
await import('../apps/stack/dist/main.js');
