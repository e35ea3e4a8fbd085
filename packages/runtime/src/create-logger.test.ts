import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { createLogger, errorFields } from './create-logger.js';

test('a line that cannot be written does not end the process, and later lines are written', async () => {
  const written: string[] = [];
  let full = true;
  const output = new Writable({
    write: (chunk, _encoding, done) => {
      if (full) return done(new Error('ENOSPC: no space left on device, write'));
      written.push(String(chunk));
      done();
    },
    // As process.stdout, which remains usable after an error.
    destroy(error, done) {
      done(error);
      Reflect.get(this, '_undestroy').call(this);
    },
  });
  const log = createLogger({ level: 'info', output, fields: { service: 'api' } });
  log.info('Lost.');
  // An error without a listener would be thrown here.
  await turn();
  full = false;
  log.info('Written.');
  expect(written.map((line) => JSON.parse(line))).toMatchObject([{ message: 'Written.', service: 'api' }]);
});

test('the error of a name with several addresses, whose own message is empty, is logged with the messages of all', () => {
  const refused = ['127.0.0.1:5432', '::1:5432'].map((address) => new Error(`connect ECONNREFUSED ${address}`));
  expect(errorFields(new AggregateError(refused))).toMatchObject({
    error: 'connect ECONNREFUSED 127.0.0.1:5432; connect ECONNREFUSED ::1:5432',
    error_class: 'AggregateError',
  });
  expect(errorFields(new AggregateError(refused, 'two steps failed'))).toMatchObject({ error: 'two steps failed' });
});

test.each([
  ['a code and no message', Object.assign(new Error(''), { code: 'ECONNRESET' }), 'ECONNRESET'],
  ['neither a message nor a code', new TypeError(''), 'TypeError'],
  [
    'what Prisma leaves of it, and no code',
    new Error('Invalid `find()` invocation:\n'),
    'Invalid `find()` invocation: Error',
  ],
])('an error with %s is logged with what there is', (_what, error, expected) => {
  expect(errorFields(error).error).toBe(expected);
});
