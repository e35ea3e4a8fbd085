/** A part of the sweep; it says what it did, and how often. */
export type SweepPart = (scope: { everything: boolean }) => Promise<Record<string, number>>;

/**
 * Runs every part of the sweep in turn, whatever becomes of the others, and tells of all that was done. Throws afterwards
 * what a part threw.
 */
export const sweepParts =
  (parts: readonly SweepPart[], tell: (swept: Record<string, number>, scope: { everything: boolean }) => void) =>
  async (scope: { everything: boolean }): Promise<void> => {
    const swept: Record<string, number> = {};
    const failures: unknown[] = [];
    for (const part of parts) {
      try {
        Object.assign(swept, await part(scope));
      } catch (error) {
        failures.push(error);
      }
    }
    tell(swept, scope);
    if (failures.length > 1) throw new AggregateError(failures, failures.map(String).join('; '));
    if (failures.length === 1) throw failures[0];
  };
