import type { CheckEntry } from '../check/entry.js';
import { syntaxEntry } from './malformed-answer.js';

/** The `syntax` entry that a check begins with; a checksum that does not fit is only noted. */
export const openingEntry = (read: { malformed: string | null; checksumFailed: boolean }, at: Date): CheckEntry => {
  if (read.malformed !== null) return syntaxEntry('malformed', at, read.malformed);
  const note = 'The checksum does not fit; real numbers fail it too, so the upstream decides.';
  return syntaxEntry('valid', at, read.checksumFailed ? note : null);
};
