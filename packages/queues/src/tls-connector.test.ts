import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { createTestAuthority } from '@vat/testkit';
import { TlsConnector } from './tls-connector.js';

test('the host is named to the server, unless it is an address', async () => {
  const authority = await createTestAuthority();
  const identity = await authority.issue({ dns: ['localhost'], ip: ['127.0.0.1'] });
  const named: unknown[] = [];
  const server = createServer(identity, (socket) => {
    named.push(socket.servername);
    socket.end();
  });
  try {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    for (const host of ['localhost', '127.0.0.1']) {
      const stream = await new TlsConnector({ host, port, family: 4, tls: { ca: authority.ca } }).connect();
      await new Promise((resolve) => stream.once('close', resolve).resume());
    }
    expect(named).toEqual(['localhost', false]);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});
