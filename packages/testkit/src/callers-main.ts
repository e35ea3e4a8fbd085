import { type ClientRequest, request } from 'node:http';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import type { CallOutcome, PlannedCall } from './call-on-schedule.js';

/** Sends one call on a connection of its own. A broken connection has the status 0. */
const send = (baseUrl: string, { method = 'POST', path, key, type = 'application/json', body }: PlannedCall) =>
  new Promise<CallOutcome>((resolve) => {
    const startedAt = performance.now();
    const end = (status: number, answer: string) =>
      resolve({ status, body: answer, ms: performance.now() - startedAt });
    const headers = {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(body) }),
    };
    const call: ClientRequest = request(`${baseUrl}${path}`, { method, headers, agent: false }, (response) => {
      text(response).then(
        (answer) => end(response.statusCode ?? 0, answer),
        (error: Error) => end(0, error.message),
      );
    });
    call.on('error', (error) => end(0, error.message));
    call.end(body);
  });

const { baseUrl, calls } = JSON.parse(await text(process.stdin)) as { baseUrl: string; calls: PlannedCall[] };
const outcomes = await Promise.all(
  calls.map(
    (call) =>
      new Promise<CallOutcome>((resolve) => setTimeout(() => void send(baseUrl, call).then(resolve), call.atMs)),
  ),
);
process.stdout.write(JSON.stringify(outcomes));
