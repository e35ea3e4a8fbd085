import { PassThrough, Writable } from 'node:stream';
import { coalesceWrites } from './connect-redis.js';

/** A stream that records the chunks of each write. */
const countingStream = (): { stream: Writable; writes: string[][] } => {
  const writes: string[][] = [];
  const stream = new Writable({
    writev: (chunks, done) => {
      writes.push(chunks.map(({ chunk }) => String(chunk)));
      done();
    },
    write: (chunk, _encoding, done) => {
      writes.push([String(chunk)]);
      done();
    },
  });
  return { stream, writes };
};

describe('data written', () => {
  test('in one turn of the event loop leaves as one write, in order', async () => {
    const { stream, writes } = countingStream();
    coalesceWrites(stream);
    stream.write('a');
    await Promise.resolve().then(() => stream.write('b'));
    stream.write('c');
    expect(writes).toEqual([]);
    await new Promise(setImmediate);
    expect(writes).toEqual([['a', 'b', 'c']]);
    stream.write('d');
    await new Promise(setImmediate);
    expect(writes).toEqual([['a', 'b', 'c'], ['d']]);
  });

  test('right before the stream ends still arrives', async () => {
    const stream = new PassThrough();
    coalesceWrites(stream);
    stream.write('a');
    stream.end('b');
    expect(Buffer.concat(await stream.toArray()).toString()).toBe('ab');
  });
});
