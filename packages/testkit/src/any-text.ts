import fc from 'fast-check';

/** The half code points that UTF-16 is made of; no text in Unicode holds one by itself. */
const SURROGATES = { first: 0xd800, count: 0x800 };
const LAST = 0x10ffff;

const toCharacter = (index: number): string =>
  String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count);
const toIndex = (character: unknown): number => {
  const point = typeof character === 'string' ? character.codePointAt(0) : undefined;
  if (point === undefined || character !== String.fromCodePoint(point)) throw new Error('not one character');
  return point < SURROGATES.first ? point : point - SURROGATES.count;
};

/** Every character there is, assigned or not. */
const anyCharacter = fc.integer({ min: 0, max: LAST - SURROGATES.count }).map(toCharacter, toIndex);

/**
 * Texts of any characters: what `fc.string({ unit: 'binary' })` gives, by which each test file that uses it first fills a table
 * of all 1 112 064 characters. That took 0.7 s, and longer than most laws themselves.
 */
export const anyText = (
  length: Pick<fc.StringConstraints, 'minLength' | 'maxLength'> = {},
): ReturnType<typeof fc.string> => fc.string({ ...length, unit: anyCharacter });
