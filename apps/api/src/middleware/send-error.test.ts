import type { Logger } from '@vat/runtime';
import { openHttpServer } from '@vat/testkit';
import express, { type ErrorRequestHandler } from 'express';
import { contextOf } from '../http/call.js';
import { sendError } from './request.js';

test('an error after the first byte closes the connection and is in the log alone', async () => {
  const logged: string[] = [];
  const passedOn: unknown[] = [];
  const app = express();
  app.get('/', (_req, res) => {
    contextOf(res).log = { error: (message: string) => void logged.push(message) } as Logger;
    res.write('the first byte');
    throw new Error('late');
  });
  app.use(sendError);
  // Express prints what the last handler passes on.
  const next: ErrorRequestHandler = (error, _req, _res, _next) => void passedOn.push(error);
  app.use(next);
  const server = await openHttpServer(app);
  await expect(fetch(server.url).then((answer) => answer.text())).rejects.toThrow();
  expect(logged).toEqual(['A request failed with an internal error.']);
  expect(passedOn).toEqual([]);
  await server.close();
});
