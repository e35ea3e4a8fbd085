import { spawn } from 'node:child_process';
import { stopProcess, waitForExit } from './server-process.js';

test('what has ended gets no signal: another process may have its pid', async () => {
  const other = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)']);
  const exited = waitForExit(other);
  await stopProcess({
    pid: other.pid ?? 0,
    exited: Promise.resolve('exit code 0'),
    steps: [{ signal: 'SIGKILL', timeoutMs: 1_000 }],
  });
  other.kill('SIGTERM');
  // By the second signal, so the first was not sent.
  expect(await exited).toBe('SIGTERM');
});
