import { createCircuit, FAILURE_PAUSE_MS, FAILURES_TO_PAUSE } from './create-circuit.js';

const setUp = () => {
  let at = Date.parse('2026-11-20T10:00:00.000Z');
  const circuit = createCircuit({ now: () => new Date(at) });
  const fail = (times: number) => {
    for (let n = 0; n < times; n += 1) circuit.failed();
  };
  return { circuit, fail, pass: (ms: number) => (at += ms) };
};

test('refuses calls after five consecutive failures for a minute, and names the end of the pause', () => {
  const { circuit, fail, pass } = setUp();
  fail(FAILURES_TO_PAUSE - 1);
  expect(circuit.refusal()).toBeNull();
  fail(1);
  expect(circuit.refusal()).toBe('paused after 5 failures in a row, next try after 2026-11-20T10:01:00.000Z');
  pass(FAILURE_PAUSE_MS - 1);
  expect(circuit.refusal()).not.toBeNull();
  pass(1);
  expect(circuit.refusal()).toBeNull();
});

test('an answer resets the count of failures', () => {
  const { circuit, fail } = setUp();
  fail(FAILURES_TO_PAUSE - 1);
  circuit.answered();
  fail(FAILURES_TO_PAUSE - 1);
  expect(circuit.refusal()).toBeNull();
});

test('permits one probe after the pause; an answer ends the pause, a failure starts another', () => {
  const { circuit, fail, pass } = setUp();
  fail(FAILURES_TO_PAUSE);
  pass(FAILURE_PAUSE_MS);
  expect(circuit.refusal()).toBeNull();
  expect(circuit.refusal()).not.toBeNull();
  fail(1);
  expect(circuit.refusal()).not.toBeNull();
  pass(FAILURE_PAUSE_MS);
  expect(circuit.refusal()).toBeNull();
  circuit.answered();
  expect(circuit.refusal()).toBeNull();
});

test('a probe without a result blocks other calls for only one more pause', () => {
  const { circuit, fail, pass } = setUp();
  fail(FAILURES_TO_PAUSE);
  pass(FAILURE_PAUSE_MS);
  circuit.refusal();
  pass(FAILURE_PAUSE_MS);
  expect(circuit.refusal()).toBeNull();
});

test('a late answer to a call from before a block does not lift it', () => {
  const { circuit, pass } = setUp();
  circuit.blocked(3_600_000);
  circuit.answered();
  pass(3_599_999);
  expect(circuit.refusal()).toContain('blocks us');
  pass(1);
  expect(circuit.refusal()).toBeNull();
});
