import type { Readable } from 'node:stream';

/** Longer than any password that is accepted. */
const MAX_CHARACTERS = 10_000;

/**
 * The first line of a stream without its line break, for a secret that must not be among a program's arguments: those are
 * visible to every user of the machine. Closes the stream. A line that is too long is cut, and then refused by its reader.
 */
export const readFirstLine = async (input: Readable): Promise<string> => {
  let text = '';
  for await (const chunk of input.setEncoding('utf8')) {
    text += chunk;
    if (/[\r\n]/.test(text) || text.length > MAX_CHARACTERS) break;
  }
  return /^[^\r\n]*/.exec(text)?.[0] ?? '';
};
