import { z } from 'zod';
import { startViesSandbox } from './start-vies-sandbox.js';

const milliseconds = z
  .string()
  .regex(/^\d+(ms|s)$/, 'a duration such as 250ms or 2s')
  .transform((text) => Number.parseInt(text, 10) * (text.endsWith('ms') ? 1 : 1_000));

/** The sandbox's settings. */
const settingsSchema = z.object({
  PORT: z.coerce.number().int().min(0).max(65_535).default(0).describe('port to listen on; 0 chooses a free one'),
  HOST: z.string().min(1).default('127.0.0.1').describe('address to listen on'),
  LATENCY: milliseconds.default(0).describe('latency of every answer until the control interface changes it'),
});

const main = async (): Promise<void> => {
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
  process.once('disconnect', stop); // ends with its parent process
  process.send?.({ type: 'ready', port: sandbox.port });
  console.log(JSON.stringify({ url: sandbox.url }));
};

void main();
