// @ts-check
// `npm run bench`: measures added latency, slot use, jobs per second and more on separate servers, with baselines of the same
// run. `npm run bench -- --quick`, `npm run bench -- latency`. It takes minutes; nothing else should run meanwhile.
import { prepareOrExit } from './prepare.mjs';

await prepareOrExit();
// Loaded after prepare(), which installs it. The benchmark is TypeScript that is not built.
const { register } = await import('tsx/esm/api');
register();
await import('../bench/main.ts');
