import { existsSync } from 'node:fs';

const testkit = (name) => {
  const source = new URL(`../packages/testkit/src/${name}.ts`, import.meta.url);
  // Jest loads these two files outside its module system, without a transform, so the built files are used.
  return existsSync(source) ? `<rootDir>/packages/testkit/dist/${name}.js` : undefined;
};
const globalSetup = testkit('global-setup');
const globalTeardown = testkit('global-teardown');

/** One jest configuration for the whole repository: ES modules, run from source. */
export default {
  rootDir: '..',
  roots: ['<rootDir>/apps', '<rootDir>/packages', '<rootDir>/scripts'],
  testMatch: ['**/*.test.ts'],
  testPathIgnorePatterns: ['/dist/', '/node_modules/', '/generated/'],
  // Node loads the files, see there.
  testRunner: '<rootDir>/scripts/jest/run-natively.mjs',
  transform: {},
  testEnvironment: '<rootDir>/scripts/jest/leak-environment.mjs',
  testSequencer: '<rootDir>/scripts/jest/spread-out.mjs',
  reporters: ['default', '<rootDir>/scripts/jest/count-reporter.mjs'],
  ...(globalSetup && { globalSetup }),
  ...(globalTeardown && { globalTeardown }),
  // The number of generated requests to the API: 1 000 by default, more with FUZZ_RUNS.
  globals: { FUZZ_RUNS: Number(process.env.FUZZ_RUNS ?? 1_000) },
  testTimeout: 180_000,
  // Tests mostly wait: for locks, windows and schedules. With a fourth worker two cores are so busy that windows of half a
  // second pass before there is an answer.
  maxWorkers: 3,
};
