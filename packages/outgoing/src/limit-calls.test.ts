import { createCircuit, createPace } from './index.js';

const FAILURES = 5;
const PAUSE_MS = 60_000;

const setUp = () => {
  let at = Date.parse('2026-11-20T10:00:00.000Z');
  const circuit = createCircuit({ now: () => new Date(at) });
  const fail = (times: number) => {
    for (let n = 0; n < times; n += 1) circuit.failed();
  };
  return { circuit, fail, pass: (ms: number) => (at += ms) };
};

describe('a circuit', () => {
  test('refuses calls after five consecutive failures for a minute, and names the end of the pause', () => {
    const { circuit, fail, pass } = setUp();
    fail(FAILURES - 1);
    expect(circuit.refusal()).toBeNull();
    fail(1);
    expect(circuit.refusal()).toBe('paused after 5 failures in a row, next try after 2026-11-20T10:01:00.000Z');
    pass(PAUSE_MS - 1);
    expect(circuit.refusal()).not.toBeNull();
    pass(1);
    expect(circuit.refusal()).toBeNull();
  });

  test('permits a call after the clock was set back by more than the pause', () => {
    const { circuit, fail, pass } = setUp();
    fail(FAILURES);
    pass(-3_600_000);
    expect(circuit.refusal()).toBeNull();
    expect(circuit.refusal()).not.toBeNull();
    pass(PAUSE_MS);
    expect(circuit.refusal()).toBeNull();
  });

  test('counts only consecutive failures: an answer resets the count', () => {
    const { circuit, fail } = setUp();
    for (let n = 0; n < 5; n += 1) {
      fail(FAILURES - 1);
      expect(circuit.refusal()).toBeNull();
      circuit.answered();
    }
  });

  test('does not count aborted calls', () => {
    const { circuit, fail } = setUp();
    for (let n = 0; n < 2 * FAILURES; n += 1) circuit.aborted();
    expect(circuit.refusal()).toBeNull();
    fail(FAILURES);
    circuit.aborted();
    expect(circuit.refusal()).not.toBeNull();
  });

  test('permits one call after the pause; an answer ends the pause, a failure starts another', () => {
    const { circuit, fail, pass } = setUp();
    fail(FAILURES);
    pass(PAUSE_MS);
    expect(circuit.refusal()).toBeNull();
    expect(circuit.refusal()).not.toBeNull();
    fail(1);
    expect(circuit.refusal()).not.toBeNull();
    pass(PAUSE_MS);
    expect(circuit.refusal()).toBeNull();
    circuit.answered();
    expect(circuit.refusal()).toBeNull();
    expect(circuit.refusal()).toBeNull();
  });

  test('permits another call at once when the one after the pause was aborted', () => {
    const { circuit, fail, pass } = setUp();
    fail(FAILURES);
    pass(PAUSE_MS);
    expect(circuit.refusal()).toBeNull();
    circuit.aborted();
    expect(circuit.refusal()).toBeNull();
    expect(circuit.refusal()).not.toBeNull();
  });

  test('blocks other calls for only one more pause when the call after a pause reports no result', () => {
    const { circuit, fail, pass } = setUp();
    fail(FAILURES);
    pass(PAUSE_MS);
    circuit.refusal();
    pass(PAUSE_MS);
    expect(circuit.refusal()).toBeNull();
  });

  test('is not closed by a late answer to a call from before a block', () => {
    const { circuit, pass } = setUp();
    circuit.blocked(3_600_000);
    circuit.answered();
    pass(3_599_999);
    expect(circuit.refusal()).toContain('blocks us');
    pass(1);
    expect(circuit.refusal()).toBeNull();
  });
});

test('a pace spaces calls by the gap and reserves none that would wait too long', () => {
  const reserveCall = createPace({ gapMs: 10_000 });
  expect(reserveCall(0)).toBe(0);
  expect(reserveCall(9_000)).toBeNull();
  // The refused call reserved no time: the next one is one gap after the first, not two.
  const wait = reserveCall(10_000) ?? Number.NaN;
  expect(wait).toBeGreaterThan(9_000);
  expect(wait).toBeLessThanOrEqual(10_000);
  expect(reserveCall(10_000)).toBeNull();
});
