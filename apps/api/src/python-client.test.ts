import { execFile } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { configureWebhook, openReceivers, provideTool, type Receivers, startWorld, type World } from '@vat/testkit';

const PACKAGE = fileURLToPath(new URL('../../../packages/client-python', import.meta.url));

let receivers: Receivers;
let world: World;
let arrivals: string;
let run: (args: string[], env?: Record<string, string>) => Promise<string>;
beforeAll(async () => {
  arrivals = mkdtempSync(path.join(tmpdir(), 'python-client-'));
  const python = await provideTool('python3');
  receivers = openReceivers();
  world = await startWorld({ settings: { ...receivers.settings, UPSTREAM_WINDOW: '500ms' } });
  // -S: without installed packages, since the client needs none.
  run = async (args, env = {}) => {
    const options = { cwd: PACKAGE, env: { ...python.env, PYTHONDONTWRITEBYTECODE: '1', ...env } };
    const { stderr } = await promisify(execFile)(
      python.file,
      ['-S', '-W', 'error', '-m', 'unittest', ...args],
      options,
    );
    return stderr;
  };
});
afterAll(async () => {
  await Promise.all([world?.stop(), receivers?.close()]);
  if (arrivals) rmSync(arrivals, { recursive: true });
});

/** The number of tests that ran. Python fails with their report when one of them failed. */
const ranIn = (report: string): number => Number(/^Ran (\d+) tests? in/m.exec(report)?.[1]);

test('the Python client behaves as the conformance vectors and its own tests say', async () => {
  expect(ranIn(await run(['tests.test_conformance', 'tests.test_calls']))).toBeGreaterThan(20);
});

test('the Python client works with a running service', async () => {
  const receiver = await receivers.start((response, arrival) => {
    const file = path.join(arrivals, `${String(arrival.headers['x-service-delivery'])}.json`);
    // Renamed when it is complete, since the client's test reads it as soon as it is there.
    writeFileSync(`${file}.part`, JSON.stringify(arrival));
    renameSync(`${file}.part`, file);
    response.writeHead(204).end();
  });
  const secret = await configureWebhook(world, world.account, receiver.url);
  const report = await run(['tests.end_to_end'], {
    ...{ BASE_URL: world.baseUrl(), LIVE_KEY: world.account.live_key, VAT_TEST_KEY: world.account.test_key },
    ...{ VIES_URL: world.vies.url, WEBHOOK_SECRET: secret, ARRIVALS: arrivals },
    ...{ HTTPS_URL: new URL(receiver.url).origin, CA_FILE: String(receivers.settings.NODE_EXTRA_CA_CERTS) },
  });
  expect(ranIn(report)).toBeGreaterThan(10);
});
