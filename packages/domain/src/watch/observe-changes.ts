import type { Change } from './watch.js';

/** What an answer says about a number. */
export type Observation = { valid: boolean; name: string | null; address: string | null };

/** What a watch remembers of its earlier answers: the last verdict, and name and address of the last valid one. */
export type Remembered = { valid: boolean | null; whenValid: { name: string | null; address: string | null } | null };

/**
 * The changes between what a watch remembers and an answer, in the order in which they are told. The first answer is the
 * baseline. Name and address are compared between valid answers alone, however many invalid ones lie between them: so
 * becoming invalid is one change, and coming back under another name is told. Source: contract part 2 §6.
 */
export const observeChanges = (before: Remembered, seen: Observation): Change[] => {
  if (before.valid === null) return [];
  const changes: Change[] = [];
  if (before.valid !== seen.valid) changes.push({ kind: 'validity', before: before.valid, after: seen.valid });
  if (!seen.valid || before.whenValid === null) return changes;
  for (const kind of ['name', 'address'] as const) {
    if (before.whenValid[kind] !== seen[kind])
      changes.push({ kind, before: before.whenValid[kind], after: seen[kind] });
  }
  return changes;
};
