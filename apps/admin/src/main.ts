import process from 'node:process';
import { SettingsError } from '@vat/runtime';
import { FailedCheck, readFirstLine, UsageError } from './command.js';
import { runCommand } from './run-command.js';

// Prints exactly one JSON object to stdout. The exit code is 0 for an answer and 1 for an error or a failed check.
runCommand(process.argv.slice(2), process.env, () => readFirstLine(process.stdin)).then(
  (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`),
  (error: unknown) => {
    process.exitCode = 1;
    if (error instanceof FailedCheck) {
      process.stdout.write(`${JSON.stringify(error.answer)}\n`);
      return;
    }
    const expected = error instanceof UsageError || error instanceof SettingsError;
    const message = error instanceof Error ? error.message : String(error);
    process.stdout.write(`${JSON.stringify({ error: { code: expected ? 'USAGE' : 'FAILED', message } })}\n`);
  },
);
