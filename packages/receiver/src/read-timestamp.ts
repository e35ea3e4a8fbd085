import { readHeader } from './read-header.js';
import { VerificationError } from './verification-error.js';

/**
 * The text of a timestamp header: Unix seconds in decimal, returned as sent, because the text itself is signed. Throws
 * MISSING_HEADER or MALFORMED_HEADER.
 */
export const readTimestamp = (headers: unknown, name: string): string => {
  const text = readHeader(headers, name);
  if (text === null) throw new VerificationError('MISSING_HEADER', `${name} is missing`);
  if (!/^\d{1,12}$/.test(text)) throw new VerificationError('MALFORMED_HEADER', `${name} is no number of Unix seconds`);
  return text;
};
