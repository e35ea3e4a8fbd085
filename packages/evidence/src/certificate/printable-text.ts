const WANTED = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Common}\p{Script=Inherited}]$/u;
const UNSEEN = /^[\p{C}\p{Zl}\p{Zp}]$/u;
const LINE_ENDS = /\r\n?|[\v\f\u0085\u2028\u2029]/g;

const named = (character: string): string =>
  `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`;

/**
 * Text as a page can show it: composed (NFC), with line ends as `\n`, and every character that has no glyph, cannot be
 * seen, or turns the direction of writing named by its code point (`[U+202E]`), so that two different texts never look
 * alike. `hasGlyph`: whether the page's font draws a code point.
 */
export const printableText =
  (hasGlyph: (codePoint: number) => boolean) =>
  (text: string): string =>
    [...text.normalize('NFC').replace(LINE_ENDS, '\n').replaceAll('\t', ' ')]
      .map((character) => {
        if (character === '\n') return character;
        const shows = WANTED.test(character) && !UNSEEN.test(character) && hasGlyph(character.codePointAt(0) ?? 0);
        return shows ? character : named(character);
      })
      .join('');
