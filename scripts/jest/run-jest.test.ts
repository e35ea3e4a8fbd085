import { fileURLToPath } from 'node:url';
import { runJest } from './run-jest.mjs';

const config = fileURLToPath(new URL('./fixtures/jest.config.mjs', import.meta.url));

const run = (fixture: string, ...args: string[]) =>
  runJest([`fixtures/${fixture}`, '--runInBand', ...args], { config, mayLingerMs: 300, output: 'ignore' });

describe('runJest', () => {
  it('counts every test that passed', async () => {
    expect(await run('passing')).toEqual({ passed: 2, failed: 0 });
  });

  it('counts passed and failed tests separately', async () => {
    expect(await run('failing')).toEqual({ passed: 1, failed: 1 });
  });

  it('counts a file that cannot run as one failed test', async () => {
    expect(await run('broken')).toEqual({ passed: 0, failed: 1 });
  });

  it('fails if there is no test to run', async () => {
    expect(await run('absent')).toEqual({ passed: 0, failed: 1 });
  });

  it('fails a file that leaves a server open', async () => {
    expect(await run('leaking')).toEqual({ passed: 0, failed: 1 });
  });

  it('fails a file that leaves the environment of the process changed', async () => {
    expect(await run('changing')).toEqual({ passed: 0, failed: 1 });
  });

  it('kills and fails a run that does not end', async () => {
    expect(await run('leaking', '--testEnvironment', 'node')).toEqual({ passed: 1, failed: 1 });
  });
});
