import { messageOf, SettingsError } from '@vat/runtime';
import { FailedCheck, UsageError } from './command.js';
import { runCommand } from './run-command.js';

/** Runs one admin command; see {@link runCommand}. Resolves to what it prints, also if it fails. */
export const answerCommand = (
  ...command: Parameters<typeof runCommand>
): Promise<{ answer: Record<string, unknown>; failed: boolean }> =>
  runCommand(...command).then(
    (answer) => ({ answer, failed: false }),
    (error: unknown) => {
      if (error instanceof FailedCheck) return { answer: error.answer, failed: true };
      const expected = error instanceof UsageError || error instanceof SettingsError;
      return { answer: { error: { code: expected ? 'USAGE' : 'FAILED', message: messageOf(error) } }, failed: true };
    },
  );
