import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('./listen.mjs', import.meta.url));
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const BODY = '{"event":"webhook.test","sent_at":"2026-11-20T09:14:04.000Z"}';

/** Starts the program; `printed` waits until its output matches. */
const listen = (...args: string[]) => {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  let output = '';
  const listeners = new Set<() => void>();
  const collect = (chunk: Buffer) => {
    output += chunk.toString();
    for (const listener of listeners) listener();
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const printed = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const check = () => {
        const match = pattern.exec(output);
        if (match) resolve(match);
      };
      listeners.add(check);
      check();
      ended.then(() => reject(new Error(`ended without printing ${pattern}:\n${output}`)), reject);
    });
  const stop = async () => {
    child.kill('SIGTERM');
    return (await ended)[0] as number | null;
  };
  return { printed, stop, ended: async () => ({ code: (await ended)[0] as number | null, output }) };
};

const deliver = async (url: string, secret = SECRET) => {
  const timestamp = Math.floor(Date.now() / 1000);
  const signature = createHmac('sha256', secret).update(`${timestamp}.${BODY}`).digest('hex');
  const headers = { 'x-service-timestamp': String(timestamp), 'x-service-signature': `sha256=${signature}` };
  return (await fetch(url, { method: 'POST', body: BODY, headers })).status;
};

describe('npm run listen', () => {
  it('prints verified deliveries and the reason of rejected ones until it is stopped', async () => {
    const { printed, stop } = listen('--port', '0', '--secret', SECRET);
    try {
      const [, url = ''] = await printed(/listening on (http:\S+\/);/);
      expect(await deliver(url)).toBe(204);
      await printed(/verified {2}webhook\.test[\s\S]*"sent_at": "2026-11-20T09:14:04.000Z"/);
      expect(await deliver(url, 'whsec_other')).toBe(401);
      await printed(/not accepted {2}SIGNATURE_MISMATCH/);
    } finally {
      expect(await stop()).toBe(0);
    }
  });

  it('answers 500 with --fail', async () => {
    const { printed, stop } = listen('--port', '0', '--secret', SECRET, '--fail');
    try {
      const [, url = ''] = await printed(/listening on (http:\S+\/);/);
      expect(await deliver(url)).toBe(500);
      await printed(/verified {2}webhook\.test/);
    } finally {
      expect(await stop()).toBe(0);
    }
  });

  it.each([
    ['without a secret', [], '--secret is missing'],
    ['with half a certificate', ['--secret', SECRET, '--cert', 'x.pem'], '--cert and --key go together'],
    ['with an invalid port', ['--secret', SECRET, '--port', 'web'], '--port web is not a port'],
  ])('prints an error and its usage %s', async (_how, args, message) => {
    const { code, output } = await listen(...args).ended();
    expect([code, output]).toEqual([1, expect.stringContaining(message)]);
    expect(output).toContain('usage:');
  });
});
