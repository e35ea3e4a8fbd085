import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The readiness and the metrics of a process. `ready` returns `ok` and the fields of the response. */
type Probes = {
  ready: () => Promise<Record<string, unknown> & { ok: boolean }>;
  metrics: () => Promise<{ type: string; text: string }>;
};

/** The number of consecutive ports to try before the system chooses a free one. */
const MAX_PORTS = 64;

const listen = (server: Server, port: number, host: string) =>
  new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });

/**
 * Serves /healthz, /readyz and /metrics of a process without an API. Uses the next free port when `port` is taken, but never
 * `apiPort`, also while no API listens there.
 */
export const startProbeServer = async (
  port: number,
  host: string,
  probes: Probes,
  apiPort?: number,
): Promise<{ port: number; close: () => Promise<void> }> => {
  const server = createServer((req, res) => {
    const respond = async () => {
      if (req.url === '/healthz') return { status: 200, type: 'application/json', text: '{"status":"ok"}' };
      if (req.url === '/metrics') return { status: 200, ...(await probes.metrics()) };
      if (req.url !== '/readyz') return { status: 404, type: 'application/json', text: '{"status":"not found"}' };
      const { ok, ...fields } = await probes.ready();
      return { status: ok ? 200 : 503, type: 'application/json', text: JSON.stringify(fields) };
    };
    respond().then(
      ({ status, type, text }) => res.writeHead(status, { 'content-type': type }).end(text),
      () => res.writeHead(503).end(),
    );
  });
  const listenAt = async (at: number): Promise<void> => {
    const next = () => listenAt(at + 1 < Math.min(port + MAX_PORTS, 65_536) ? at + 1 : 0);
    if (at !== 0 && at === apiPort) return next();
    try {
      await listen(server, at, host);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      await next();
    }
  };
  await listenAt(port);
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
