// @ts-check
// `npm run listen -- --port 4000 --secret whsec_…`: a local webhook receiver that verifies and prints every delivery, for
// development. docs/webhooks.md describes how the service can reach it.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from './prepare/run-program.mjs';
import { prepare } from './prepare.mjs';

const USAGE = `usage: npm run listen -- --secret whsec_… [options]

  --secret whsec_…   the secret shown when the webhook was saved; may be given twice while it is rotated
  --port 4000        0 takes any free port
  --host 127.0.0.1   address to listen on
  --self-signed      https with a certificate for localhost, stored in .data/listen
  --cert F --key F   https with your own certificate and key, both PEM
  --fail             answers 500 after printing, to watch the service retry
`;

const readArguments = () => {
  const { values } = parseArgs({
    options: {
      secret: { type: 'string', multiple: true },
      port: { type: 'string', default: '4000' },
      host: { type: 'string', default: '127.0.0.1' },
      cert: { type: 'string' },
      key: { type: 'string' },
      'self-signed': { type: 'boolean', default: false },
      fail: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  if (!values.secret) throw new Error('--secret is missing');
  if (!/^\d{1,5}$/.test(values.port)) throw new Error(`--port ${values.port} is not a port`);
  if (!values.cert !== !values.key) throw new Error('--cert and --key go together');
  return { ...values, secret: values.secret, port: Number(values.port) };
};

/** @param {NonNullable<ReturnType<typeof readArguments>>} options */
const readTls = async (options) => {
  if (!options.cert && !options['self-signed']) return null;
  // Loaded after prepare(), which builds its dependencies.
  const { makeCertificate } = await import('./listen/start-listener.mjs');
  const { cert, key } =
    options.cert && options.key
      ? { cert: options.cert, key: options.key }
      : makeCertificate(path.join(ROOT, '.data/listen'));
  return { file: path.resolve(cert), cert: readFileSync(cert), key: readFileSync(key) };
};

const main = async () => {
  const options = readArguments();
  if (!options) return void process.stdout.write(USAGE);
  const built = ['packages/receiver/dist/index.js', 'packages/evidence/dist/proof.js'];
  if (!built.every((file) => existsSync(path.join(ROOT, file)))) await prepare();
  const tls = await readTls(options);
  const { startListener } = await import('./listen/start-listener.mjs');
  const { url, stop } = await startListener({ ...options, tls, print: (line) => console.log(line) });
  console.log(`listening on ${url}; Ctrl-C ends it`);
  if (tls) console.log(`start the service like this, and set ${url} as the endpoint URL:`);
  else console.log('webhooks are sent only to https: use a TLS proxy or tunnel, or --self-signed');
  if (tls) console.log(`  WEBHOOK_ALLOWED_NETWORKS=127.0.0.0/8 NODE_EXTRA_CA_CERTS=${tls.file} npm start`);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop);
};

await main().catch((error) => {
  process.stderr.write(`listen: ${error.message}\n`);
  if (error.code !== 'EADDRINUSE') process.stderr.write(`\n${USAGE}`);
  process.exitCode = 1;
});
