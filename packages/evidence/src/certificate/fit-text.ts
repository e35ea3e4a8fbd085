/** A box in points, and the font sizes to try, largest first. */
type Box = { width: number; height: number; sizes: readonly number[] };

/** Height in points that `text` takes at `size` when wrapped to `width`. */
type MeasureText = (text: string, size: number, width: number) => number;

/** More characters than any box of a page can show; a longer text is not measured. */
const MAX_CHARACTERS = 3_000;

/** The longest length from `least` on that fits; `tooLong` is known not to. Bisects, since each measurement is slow. */
const longestThatFits = (least: number, tooLong: number, fits: (length: number) => boolean): number => {
  if (tooLong - least <= 1) return least;
  const middle = Math.floor((least + tooLong) / 2);
  return fits(middle) ? longestThatFits(middle, tooLong, fits) : longestThatFits(least, middle, fits);
};

/**
 * The largest size at which `text` fits its box. If it does not fit at any size, the beginning that fits at the smallest
 * size, followed by `mark`. The page provides `measure`, so that measured and drawn sizes agree.
 */
export const fitText =
  (measure: MeasureText, mark: string) =>
  (text: string, { width, height, sizes }: Box): { text: string; size: number } => {
    const characters = [...text];
    const whole = characters.length <= MAX_CHARACTERS;
    for (const size of sizes) if (whole && measure(text, size, width) <= height) return { text, size };
    const size = sizes.at(-1) ?? 0;
    const cut = (length: number) => `${characters.slice(0, length).join('').trimEnd()}${mark}`;
    const most = Math.min(characters.length, MAX_CHARACTERS);
    const fits = longestThatFits(0, most, (length) => measure(cut(length), size, width) <= height);
    return { text: cut(fits), size };
  };

/**
 * The lines that `text` takes when no line may be wider than `width`, broken behind a blank where there is one. `measure`: the
 * width in points.
 */
export const breakIntoLines = (measure: (text: string) => number, text: string, width: number): string[] => {
  const lines: string[] = [];
  let rest = [...text];
  while (measure(rest.join('')) > width && rest.length > 1) {
    const fits = longestThatFits(1, rest.length, (length) => measure(rest.slice(0, length).join('')) <= width);
    const blank = rest.lastIndexOf(' ', fits);
    const end = blank > 0 ? blank : fits;
    lines.push(rest.slice(0, end).join(''));
    rest = rest.slice(blank > 0 ? end + 1 : end);
  }
  return [...lines, rest.join('')];
};

const WANTED = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Common}\p{Script=Inherited}]$/u;
const UNSEEN = /^[\p{C}\p{Zl}\p{Zp}]$/u;
const LINE_ENDS = /\r\n?|[\v\f\u0085\u2028\u2029]/g;

const named = (character: string): string =>
  `[U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`;

/**
 * Text as a page can show it: composed (NFC), with line ends as `\n`. Every character that has no glyph, is invisible or
 * changes the direction of writing is replaced by its code point (`[U+202E]`), so that two different texts never look
 * alike. `hasGlyph`: whether the page's font has a glyph for a code point.
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
