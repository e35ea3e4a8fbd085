import fc from 'fast-check';

/** The surrogate code points of UTF-16, which never occur alone in Unicode text. */
const SURROGATES = { first: 0xd800, count: 0x800 };
const LAST = 0x10ffff;

const toCharacter = (index: number): string =>
  String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count);
const toIndex = (character: unknown): number => {
  const point = typeof character === 'string' ? character.codePointAt(0) : undefined;
  if (point === undefined || character !== String.fromCodePoint(point)) throw new Error('not one character');
  return point < SURROGATES.first ? point : point - SURROGATES.count;
};

/** Every code point except surrogates, assigned or not. */
const anyCharacter = fc.integer({ min: 0, max: LAST - SURROGATES.count }).map(toCharacter, toIndex);

/**
 * Texts of any characters, like `fc.string({ unit: 'binary' })`. That unit fills a table of all 1 112 064 characters in each
 * test file, which takes 0.7 s, longer than most property tests.
 */
export const anyText = (
  length: Pick<fc.StringConstraints, 'minLength' | 'maxLength'> = {},
): ReturnType<typeof fc.string> => fc.string({ ...length, unit: anyCharacter });
