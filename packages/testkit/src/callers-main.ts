import { connect } from 'node:net';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import type { CallOutcome, PlannedCall } from './call-on-schedule.js';

/** Calls that are late start a few at a time, so that a slow machine does not turn a schedule into one burst. */
const MAX_STARTS = 20;
const TICK_MS = 5;

const requestText = (host: string, { method = 'POST', path, key, type = 'application/json', body }: PlannedCall) =>
  [
    `${method} ${path} HTTP/1.1`,
    `Host: ${host}`,
    'Connection: close',
    `Authorization: Bearer ${key}`,
    ...(body === undefined ? [] : [`Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`]),
    '',
    body ?? '',
  ].join('\r\n');

/** Sends one call on a socket of its own, which costs a fraction of what an HTTP client does. */
const send = (url: URL, call: PlannedCall): Promise<CallOutcome> =>
  new Promise((resolve) => {
    const startedAt = performance.now();
    const chunks: Buffer[] = [];
    const socket = connect(Number(url.port), url.hostname);
    const end = (status: number, body: string) => resolve({ status, body, ms: performance.now() - startedAt });
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('end', () => {
      const [head = '', body = ''] = Buffer.concat(chunks).toString('utf8').split('\r\n\r\n');
      end(Number(head.split(' ')[1] ?? 0), body);
    });
    socket.on('error', (error) => end(0, error.message));
    socket.write(requestText(url.host, call));
  });

const { baseUrl, calls } = JSON.parse(await text(process.stdin)) as { baseUrl: string; calls: PlannedCall[] };
const url = new URL(baseUrl);
const startedAt = performance.now();
const due = calls.map((call, n) => ({ call, n })).sort((a, b) => a.call.atMs - b.call.atMs);
const outcomes: Promise<CallOutcome>[] = [];
while (due.length > 0) {
  const elapsed = performance.now() - startedAt;
  for (let starts = 0; starts < MAX_STARTS && (due[0]?.call.atMs ?? Number.POSITIVE_INFINITY) <= elapsed; starts += 1) {
    const next = due.shift();
    if (next) outcomes[next.n] = send(url, next.call);
  }
  await pause(TICK_MS);
}
process.stdout.write(JSON.stringify(await Promise.all(outcomes)));
