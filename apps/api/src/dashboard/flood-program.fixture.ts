import { connect, type Socket } from 'node:net';
import { setPriority } from 'node:os';
import type { FloodPlan, FloodReport } from './flood.fixture.js';

const SOCKETS = 300;
const TICK_MS = 10;
const REPORT_EVERY_MS = 100;
const LOWEST_PRIORITY = 19;

// A real attacker has machines of its own. Here it shares the cores with the service, and must not take CPU time from it.
setPriority(LOWEST_PRIORITY);

const plan = JSON.parse(process.argv[2] ?? '') as FloodPlan;
const { hostname, port, host } = new URL(plan.url);

const fill = (text: string, n: number): string =>
  text.replaceAll('{n}', String(n)).replaceAll('{hex}', (n % 10_000).toString(16));

const requestText = (n: number): string => {
  const body = JSON.stringify({ email: fill(plan.email, n), password: fill(plan.password, n) });
  return [
    'POST /app/api/session HTTP/1.1',
    `Host: ${host}`,
    'Content-Type: application/json',
    `X-Forwarded-For: ${fill(plan.from, n)}`,
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
};

// Requests are written and answers are counted as text, which costs less CPU time than an HTTP client.
const statuses: Record<string, number> = {};
const free: Socket[] = [];
for (let i = 0; i < SOCKETS; i += 1) {
  const socket = connect(Number(port), hostname, () => free.push(socket));
  let answer = '';
  socket
    .setNoDelay()
    .setEncoding('latin1')
    .on('data', (text: string) => {
      answer += text;
      const end = answer.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(answer)?.[1] ?? 0);
      if (end < 0 || answer.length < end + 4 + length) return;
      const status = answer.slice(9, 12);
      statuses[status] = (statuses[status] ?? 0) + 1;
      answer = '';
      free.push(socket);
    });
  socket.on('error', () => undefined);
}
const startedAt = performance.now();
let sent = 0;
setInterval(() => {
  const due = ((performance.now() - startedAt) / 1_000) * plan.perSecond;
  while (sent < due) {
    const socket = free.pop();
    if (!socket) break;
    socket.write(requestText(sent));
    sent += 1;
  }
}, TICK_MS);
setInterval(() => {
  const report: FloodReport = { sent, ms: performance.now() - startedAt, statuses };
  process.send?.(report);
}, REPORT_EVERY_MS);
process.once('disconnect', () => process.exit());
