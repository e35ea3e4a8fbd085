import { settingsSchema } from './settings.js';
import { startViesSandbox } from './start-vies-sandbox.js';

const settings = settingsSchema.parse(process.env);
const sandbox = await startViesSandbox({ port: settings.PORT, host: settings.HOST, latencyMs: settings.LATENCY });

const stop = () => {
  sandbox.close().then(
    () => process.exit(0),
    () => process.exit(1),
  );
};
process.once('SIGTERM', stop);
process.once('SIGINT', stop);
process.once('disconnect', stop); // a parent that died must not leave it running
process.send?.({ type: 'ready', port: sandbox.port });
console.log(JSON.stringify({ url: sandbox.url }));
