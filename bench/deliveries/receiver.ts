// A program: HTTPS receivers that answer 204 at once, one per port. Its control port returns the number of deliveries
// (`GET /count`) and their times (`GET /arrivals`), and deletes them (`DELETE /`).
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createPlainServer } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { clockMs } from '../measuring.js';

const listen = async (server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};

const { RECEIVER_KEY = '', RECEIVER_CERT = '', RECEIVER_PORTS = '1' } = process.env;
const identity = { key: readFileSync(RECEIVER_KEY), cert: readFileSync(RECEIVER_CERT) };
let arrivals: [delivery: string, at: number][] = [];

const ports: number[] = [];
for (let n = 0; n < Number(RECEIVER_PORTS); n += 1) {
  const server = createServer({ ...identity, keepAliveTimeout: 60_000 }, (request, response) => {
    arrivals.push([String(request.headers['x-service-delivery'] ?? ''), clockMs()]);
    request.resume().once('end', () => void response.writeHead(204).end());
  });
  server.on('tlsClientError', () => undefined); // stopped senders close connections
  ports.push(await listen(server));
}
const control = createPlainServer((request, response) => {
  const answer = request.url === '/arrivals' ? arrivals : arrivals.length;
  if (request.method === 'DELETE') arrivals = [];
  response.end(JSON.stringify(answer));
});
process.send?.({ control: await listen(control), ports });
process.once('SIGTERM', () => process.exit(0));
