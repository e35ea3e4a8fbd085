/** Set by `npm run test:faults`: fault tests then run with the counts that a release is judged by. */
const FULL_VARIABLE = 'VAT_FAULTS';

/** True in a full-size run of the fault tests. */
export const isFullSize = (): boolean => process.env[FULL_VARIABLE] === 'full';

/** How many, how long: the first in every test run, the second in a full-size run of the fault tests. */
export const faultSize = (short: number, full: number): number => (isFullSize() ? full : short);
