/**
 * Says what comes back many times a second once, and then at most every `everyMs`, with the number of times it was not
 * said (`unsaid`).
 */
export const saySparingly = (
  say: (fields: Record<string, unknown>) => void,
  everyMs: number,
  now: () => Date,
): ((fields: Record<string, unknown>) => void) => {
  let quietUntil = 0;
  let unsaid = 0;
  return (fields) => {
    const at = now().getTime();
    if (at < quietUntil) {
      unsaid += 1;
      return;
    }
    say(unsaid > 0 ? { ...fields, unsaid } : fields);
    quietUntil = at + everyMs;
    unsaid = 0;
  };
};
