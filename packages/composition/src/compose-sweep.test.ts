import { runEach, sweepSteps } from './compose-sweep.js';

test('a part that fails does not stop the others, and is thrown at the end', async () => {
  const reported: unknown[] = [];
  const failing = (message: string) => () => Promise.reject(new Error(message));
  const doing = (swept: Record<string, number>) => () => Promise.resolve(swept);
  const sweep = (...parts: Parameters<typeof sweepSteps>[0]) =>
    sweepSteps(parts, (swept) => reported.push(swept))({ everything: false });

  await expect(sweep(doing({ enqueued: 1 }), failing('lines'), doing({ stamps: 2 }))).rejects.toThrow('lines');
  await expect(sweep(failing('rows'), failing('lines'), doing({ stamps: 3 }))).rejects.toThrow('rows; Error: lines');
  await sweep(doing({ enqueued: 4 }));
  expect(reported).toEqual([{ enqueued: 1, stamps: 2 }, { stamps: 3 }, { enqueued: 4 }]);
});

test('a step of the expiry that fails does not stop the later ones', async () => {
  const run: string[] = [];
  const step = (name: string) => async () => void run.push(name);
  await expect(runEach([step('keys'), () => Promise.reject(new Error('batches')), step('evidence')])).rejects.toThrow(
    'batches',
  );
  expect(run).toEqual(['keys', 'evidence']);
});
