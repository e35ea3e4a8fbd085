import type { Part } from './archive.js';
import { invalidFile } from './invalid-file.js';
import { readXml, type XmlHandlers } from './read-xml.js';

/** The maximum of shared strings: fifty for each row that may be read. Each takes memory, also an empty one. */
const MAX_STRINGS = 500_000;

/** How control characters are written in XML, which cannot contain them. */
const ESCAPED = /_x([0-9A-Fa-f]{4})_/g;
const SPACE = 0x20;

/** Replaces `_x000D_` with its character. Control characters other than tabs and line breaks are removed. */
export const unescapeText = (text: string): string =>
  text.includes('_x')
    ? text.replace(ESCAPED, (_found, hex: string) => {
        const character = String.fromCharCode(Number.parseInt(hex, 16));
        return character >= String.fromCharCode(SPACE) || '\t\r\n'.includes(character) ? character : '';
      })
    : text;

type TextCollector = Required<XmlHandlers> & { take: () => string };

/**
 * Collects the text of an element that has plain text (`t`) or runs of formatted text (`r`). Phonetic guides (`rPh`) are
 * instructions for reading the text, not a part of it. `take` returns the text so far and begins the next one.
 */
export const collectText = (): TextCollector => {
  let text = '';
  let inText = false;
  let inGuide = false;
  return {
    open: (name) => {
      if (name === 't') inText = true;
      else if (name === 'rPh') inGuide = true;
    },
    close: (name) => {
      if (name === 't') inText = false;
      else if (name === 'rPh') inGuide = false;
    },
    text: (piece) => {
      if (inText && !inGuide) text += piece;
    },
    take: () => {
      const taken = unescapeText(text);
      text = '';
      return taken;
    },
  };
};

/** The strings that the cells of all sheets refer to by their index. */
export const readSharedStrings = (part: Part | null): string[] => {
  const strings: string[] = [];
  if (part === null) return strings;
  const { open, close, text, take } = collectText();
  readXml(part, {
    open,
    text,
    close: (name) => {
      close(name);
      if (name !== 'si') return;
      if (strings.length >= MAX_STRINGS)
        throw invalidFile(
          'The workbook has more than 500 000 different texts. Save the sheet alone as .xlsx or CSV (UTF-8).',
        );
      strings.push(take());
    },
  });
  return strings;
};
