import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createTestAuthority, startProcess } from '@vat/testkit';

/** The setting that lets a started process run a TypeScript file directly. */
export const runsTypeScript = (): { NODE_OPTIONS: string } => ({
  NODE_OPTIONS: `--import=${import.meta.resolve('tsx')}`,
});

/** Receivers in a separate process. `settings`: the settings that a sender needs to trust and reach them. */
export type BenchReceiver = {
  pid: number;
  urls: string[];
  settings: Record<string, string>;
  count: () => Promise<number>;
  /** The time at which the headers of each delivery arrived (`clockMs`), in order. */
  arrivals: () => Promise<[delivery: string, at: number][]>;
  forget: () => Promise<void>;
  stop: () => Promise<void>;
};

/** Starts `endpoints` HTTPS receivers, one port each, with their own certificate authority. */
export const openReceiver = async (endpoints: number): Promise<BenchReceiver> => {
  const authority = await createTestAuthority();
  const { key, cert } = await authority.issue({ ip: ['127.0.0.1'] });
  const folder = mkdtempSync(path.join(tmpdir(), 'vat-bench-ca-'));
  const writeSecret = (name: string, text: string): string => {
    const file = path.join(folder, name);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };
  const process = await startProcess('bench/deliveries/receiver.ts', {
    ...runsTypeScript(),
    RECEIVER_KEY: writeSecret('key.pem', key),
    RECEIVER_CERT: writeSecret('cert.pem', cert),
    RECEIVER_PORTS: String(endpoints),
  });
  const control = `http://127.0.0.1:${String(process.ready.control)}`;
  const call = async (what: string, method = 'GET'): Promise<unknown> =>
    (await fetch(`${control}${what}`, { method })).json();
  return {
    pid: process.pid,
    urls: (process.ready.ports as number[]).map((port) => `https://127.0.0.1:${port}/vat-events`),
    settings: { NODE_EXTRA_CA_CERTS: writeSecret('ca.pem', authority.ca), WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' },
    count: async () => (await call('/count')) as number,
    arrivals: async () => (await call('/arrivals')) as [string, number][],
    forget: async () => void (await call('/', 'DELETE')),
    stop: async () => {
      await process.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
