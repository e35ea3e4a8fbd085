/** Milliseconds of the machine's steady clock, with fractions: the same in all of its processes. */
export const clockMs = (): number => Number(process.hrtime.bigint()) / 1e6;
