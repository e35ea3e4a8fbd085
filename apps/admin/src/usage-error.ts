/** The command was written wrongly, or names something that does not exist; the message says what to write. */
export class UsageError extends Error {
  override name = 'UsageError';
}
