/** C0, U+007F and C1 but the newline. Lone surrogates are matched apart: they need the `u` flag. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const CONTROLS = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/g;
const LONE_SURROGATES = /\p{Surrogate}/gu;

type CleanTextOptions = {
  /** Longest text kept, in UTF-16 code units. */
  limit: number;
  /** True keeps `\n` as it is (addresses); false turns a run of them into one space (names). */
  multiline: boolean;
};

/**
 * What a person may read of an upstream text field, or null where the upstream disclosed nothing (`---`, blank, not a
 * string). Control characters and lone surrogates go, because the hashed body must come out alike in jq and Python;
 * nothing is normalised. Source: contract part 2 §4.
 */
export const cleanText = (value: unknown, { limit, multiline }: CleanTextOptions): string | null => {
  if (typeof value !== 'string') return null;

  const lines = value.replace(CONTROLS, '').replace(LONE_SURROGATES, '');
  const whole = (multiline ? lines : lines.replace(/\n+/g, ' ')).trim();
  // the cut can part a surrogate pair: its half goes too
  const text = whole.length > limit ? whole.slice(0, limit).replace(LONE_SURROGATES, '').trim() : whole;
  return text === '' || text === '---' ? null : text;
};
