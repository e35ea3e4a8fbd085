/** The machine's monotonic clock in milliseconds, with fractions. All processes of the machine share it. */
export const clockMs = (): number => Number(process.hrtime.bigint()) / 1e6;
