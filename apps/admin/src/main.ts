import process from 'node:process';
import { answerCommand } from './answer-command.js';
import { readFirstLine } from './command.js';

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that has seen enough, such as head, closes the pipe. Everything else, such as a full disk, is a failure.
  if (error.code === 'EPIPE') return;
  process.stderr.write(`admin: The output could not be written: ${error.message}.\n`);
  process.exitCode = 1;
});

// Prints exactly one JSON object to stdout. The exit code is 0 for an answer and 1 for an error or a failed check.
void answerCommand(process.argv.slice(2), process.env, () => readFirstLine(process.stdin)).then(
  ({ answer, failed }) => {
    process.stdout.write(`${JSON.stringify(answer)}\n`);
    if (failed) process.exitCode = 1;
  },
);
