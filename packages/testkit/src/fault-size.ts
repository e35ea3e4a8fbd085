import { appendFileSync } from 'node:fs';

/** Set by `npm run test:faults`: fault tests then run with the counts that a release requires. */
const FULL_VARIABLE = 'VAT_FAULTS';

export const isFullSize = (): boolean => process.env[FULL_VARIABLE] === 'full';

/** Returns `short` in a normal test run, and `full` in a full-size run of the fault tests. */
export const faultSize = (short: number, full: number): number => (isFullSize() ? full : short);

/** Set by `npm run test:faults` to the file that collects the figures of its tests. */
const FIGURES_VARIABLE = 'VAT_FAULTS_FIGURES';

/** Of jest's `expect`, which is a global of every test file: the file that runs. */
type Jest = { expect: { getState: () => { testPath?: string } } };

/** Prints a count or a time that a test measured. In a full-size run of the fault tests the summary repeats it. */
export const reportFigure = (figure: string): void => {
  process.stdout.write(`${figure}\n`);
  const file = process.env[FIGURES_VARIABLE];
  if (file === undefined) return;
  const { testPath } = (globalThis as unknown as Jest).expect.getState();
  appendFileSync(file, `${JSON.stringify({ testPath, figure })}\n`);
};
