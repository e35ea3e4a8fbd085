/** Set by `npm run test:faults`: fault tests then run with the counts that a release requires. */
const FULL_VARIABLE = 'VAT_FAULTS';

/** True in a full-size run of the fault tests. */
export const isFullSize = (): boolean => process.env[FULL_VARIABLE] === 'full';

/** Returns `short` in a normal test run, and `full` in a full-size run of the fault tests. */
export const faultSize = (short: number, full: number): number => (isFullSize() ? full : short);
