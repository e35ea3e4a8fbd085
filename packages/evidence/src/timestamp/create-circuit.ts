import { TimestampRefused } from './timestamp-refused.js';

type CircuitOptions = {
  /** So many failures in a row open it. */
  failures: number;
  /** So long it stays open, in milliseconds; then one call tries. */
  restMs: number;
  now: () => Date;
};

/** Runs `call` while the circuit is closed. */
export type Circuit = <T>(call: () => Promise<T>) => Promise<T>;

/**
 * Stops asking an authority that does not answer: after `failures` in a row every call fails at once with `circuit_open`
 * for `restMs`, then one call at a time tries until one succeeds. An aborted call is no failure. The state is of this
 * process alone.
 */
export const createCircuit = ({ failures, restMs, now }: CircuitOptions): Circuit => {
  let inARow = 0;
  let openUntil = 0;
  let trying = false;
  return async (call) => {
    const isTrial = inARow >= failures;
    if (isTrial && (trying || now().getTime() < openUntil))
      throw new TimestampRefused('circuit_open', `the authority failed ${inARow} times in a row and is left alone`);
    if (isTrial) trying = true;
    try {
      const result = await call();
      inARow = 0;
      return result;
    } catch (error) {
      if (!(error instanceof TimestampRefused && error.refusal === 'aborted')) {
        inARow += 1;
        openUntil = now().getTime() + restMs;
      }
      throw error;
    } finally {
      if (isTrial) trying = false;
    }
  };
};
