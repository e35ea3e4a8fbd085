/** A box in points, and the sizes of type to try, largest first. */
type Box = { width: number; height: number; sizes: readonly number[] };

/** Height in points that `text` takes at `size` when wrapped to `width`. */
export type MeasureText = (text: string, size: number, width: number) => number;

const CUT = ' … (cut)';
/** No box of a page holds more; what is longer need not be measured. */
const MOST_CHARACTERS = 3_000;

/**
 * The largest size at which `text` fits its box, and where none does, as much of it as fits at the smallest, with a mark
 * that it was cut. Measuring is the page's, so that what fits here fits there.
 */
export const fitText =
  (measure: MeasureText) =>
  (text: string, { width, height, sizes }: Box): { text: string; size: number } => {
    const characters = [...text];
    const whole = characters.length <= MOST_CHARACTERS;
    for (const size of sizes) if (whole && measure(text, size, width) <= height) return { text, size };
    const size = sizes.at(-1) ?? 0;
    const cut = (length: number) => `${characters.slice(0, length).join('').trimEnd()}${CUT}`;
    let [fits, tooLong] = [0, Math.min(characters.length, MOST_CHARACTERS)];
    while (tooLong - fits > 1) {
      const middle = Math.floor((fits + tooLong) / 2);
      if (measure(cut(middle), size, width) <= height) fits = middle;
      else tooLong = middle;
    }
    return { text: cut(fits), size };
  };
