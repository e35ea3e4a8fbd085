import { keyedMutex } from './turns.js';

const gate = () => {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
};

test('work of one key runs in the order of arrival, one piece at a time', async () => {
  const inTurn = keyedMutex();
  let running = 0;
  const order: number[] = [];
  await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      inTurn('key', async () => {
        running += 1;
        expect(running).toBe(1);
        await new Promise(setImmediate);
        order.push(n);
        running -= 1;
      }),
    ),
  );
  expect(order).toEqual(Array.from({ length: 20 }, (_, n) => n));
});

test('work that fails does not block the next, and fails only for its own caller', async () => {
  const inTurn = keyedMutex();
  const failing = inTurn('key', () => Promise.reject(new Error('no')));
  const next = inTurn('key', () => Promise.resolve('yes'));
  await expect(failing).rejects.toThrow('no');
  await expect(next).resolves.toBe('yes');
});

test('keys do not wait for each other', async () => {
  const inTurn = keyedMutex();
  const { open, opened } = gate();
  const held = inTurn('one', () => opened);
  await expect(inTurn('two', () => Promise.resolve('done'))).resolves.toBe('done');
  open();
  await held;
});
