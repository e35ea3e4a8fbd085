import { explainDatabaseFailure } from '@vat/db';
import { messageOf, SettingsError } from '@vat/runtime';
import { FailedCheck, UsageError } from './command.js';
import { runCommand } from './run-command.js';

/** The last line of an error's message, without what Prisma puts in front. */
const reasonOf = (error: unknown): string =>
  (messageOf(error).trim().split('\n').at(-1) ?? '').replace(/^Invalid `.*` invocation:\s*/, '');

/** Runs one admin command; see {@link runCommand}. Resolves to what it prints, also if it fails. */
export const answerCommand = (
  ...command: Parameters<typeof runCommand>
): Promise<{ answer: Record<string, unknown>; failed: boolean }> =>
  runCommand(...command).then(
    (answer) => ({ answer, failed: false }),
    (error: unknown) => {
      if (error instanceof FailedCheck) return { answer: error.answer, failed: true };
      const expected = error instanceof UsageError || error instanceof SettingsError;
      const advice = explainDatabaseFailure(error);
      const message = advice === null ? messageOf(error) : `${advice} (${reasonOf(error)})`;
      return { answer: { error: { code: expected ? 'USAGE' : 'FAILED', message } }, failed: true };
    },
  );
