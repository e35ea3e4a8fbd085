import fc from 'fast-check';
import { type Observation, observeChanges, type Remembered } from './watch-changes.js';

const words = fc.option(fc.constantFrom('A', 'B', 'C'), { nil: null });
const observation: fc.Arbitrary<Observation> = fc.record({ valid: fc.boolean(), name: words, address: words });
const NEW: Remembered = { valid: null, whenValid: null };

/** What a watch remembers after an answer, as the database does. */
const remember = (before: Remembered, seen: Observation): Remembered => ({
  valid: seen.valid,
  whenValid: seen.valid ? { name: seen.name, address: seen.address } : before.whenValid,
});
const observeAll = (answers: Observation[]) => {
  let known = NEW;
  return answers.map((seen) => {
    const changes = observeChanges(known, seen);
    known = remember(known, seen);
    return changes;
  });
};

test.each([[{ valid: true, name: 'A', address: 'B' }], [{ valid: false, name: null, address: null }]])(
  'the baseline %j is no change',
  (seen) => {
    expect(observeChanges(NEW, seen)).toEqual([]);
  },
);

test('becoming invalid is one change, whatever the name and address', () => {
  const before = { valid: true, whenValid: { name: 'A', address: 'B' } };
  const change = { kind: 'validity', before: true, after: false };
  for (const seen of [null, 'A', 'X']) {
    expect(observeChanges(before, { valid: false, name: seen, address: seen })).toEqual([change]);
  }
});

test('a first valid answer after invalid ones has nothing to be compared with', () => {
  const seen = { valid: true, name: 'A', address: 'B' };
  expect(observeChanges({ valid: false, whenValid: null }, seen)).toEqual([
    { kind: 'validity', before: false, after: true },
  ]);
});

test('for any answers, the same one twice is no change, and each kind is reported at most once an answer', () => {
  fc.assert(
    fc.property(fc.array(observation, { minLength: 1, maxLength: 8 }), (answers) => {
      const observed = observeAll(answers.flatMap((answer) => [answer, answer]));
      for (const [n, changes] of observed.entries()) {
        if (n % 2 === 1) expect(changes).toEqual([]);
        expect(new Set(changes.map(({ kind }) => kind)).size).toBe(changes.length);
        for (const { before, after } of changes) expect(before).not.toBe(after);
      }
    }),
  );
});

test('the reported changes, applied to the baseline, give the last answer', () => {
  fc.assert(
    fc.property(fc.array(observation, { minLength: 1, maxLength: 10 }), (answers) => {
      const [first] = answers as [Observation];
      const state = { validity: first.valid, name: first.name, address: first.address };
      const changes = observeAll(answers).flat();
      const known = answers.filter(({ valid }) => valid);
      // The first valid answer after an invalid baseline is stored without a notification.
      const [start] = known;
      if (start) Object.assign(state, { name: start.name, address: start.address });
      for (const { kind, before, after } of changes) {
        expect(state[kind]).toBe(before);
        Object.assign(state, { [kind]: after });
      }
      expect(state.validity).toBe(answers.at(-1)?.valid);
      const last = known.at(-1);
      if (last) expect([state.name, state.address]).toEqual([last.name, last.address]);
    }),
  );
});
