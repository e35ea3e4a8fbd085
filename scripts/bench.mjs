// @ts-check
// `npm run bench`: added latency, slot use and jobs a second of the real stack on servers of its own, beside baselines of
// the same run. `npm run bench -- --quick`, `npm run bench -- latency`. Minutes long; nothing else should run meanwhile.
import { prepare } from './prepare.mjs';

try {
  await prepare();
} catch (error) {
  process.stderr.write(`[prepare] ${/** @type {Error} */ (error).message}\n`);
  process.exit(1);
}
// Not before: it is among what prepare() installs. The bench is TypeScript and belongs to no build.
const { register } = await import('tsx/esm/api');
register();
await import('../bench/main.ts');
