import { startProbeServer } from './start-probe-server.js';

const probes = {
  ready: async () => ({ ok: false, status: 'stopping' }),
  metrics: async () => ({ type: 'text/plain', text: 'up 1\n' }),
};

test('uses the next free port when a port is taken, and serves the probes', async () => {
  const first = await startProbeServer(0, '127.0.0.1', probes);
  const others = [];
  for (let n = 0; n < 3; n += 1) others.push(await startProbeServer(first.port, '127.0.0.1', probes));
  const ports = others.map(({ port }) => port);
  try {
    expect(new Set([first.port, ...ports]).size).toBe(4);
    // Other programs may use some of these ports; a port that the system chose would be thousands away.
    for (const port of ports) expect(port - first.port).toBeLessThan(64);
    expect(ports).toEqual([...ports].sort((a, b) => a - b));
    const answers = await Promise.all(
      ['/healthz', '/metrics', '/readyz', '/else'].map(async (path) => {
        const answer = await fetch(`http://127.0.0.1:${ports[2]}${path}`);
        return [answer.status, await answer.text()];
      }),
    );
    expect(answers).toEqual([
      [200, '{"status":"ok"}'],
      [200, 'up 1\n'],
      [503, '{"status":"stopping"}'],
      [404, '{"status":"not found"}'],
    ]);
  } finally {
    await Promise.all([first, ...others].map(({ close }) => close()));
  }
});

test('leaves the port of the API free', async () => {
  const { port, close } = await startProbeServer(0, '127.0.0.1', probes);
  await close();
  const beside = await startProbeServer(port, '127.0.0.1', probes, port);
  await beside.close();
  expect(beside.port).toBeGreaterThan(port);
});
