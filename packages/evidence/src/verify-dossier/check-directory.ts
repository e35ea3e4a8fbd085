import { NotChecked } from './dossier-report.js';

/** Reads a part of a zip. Throws {@link NotChecked} when the file is gone: that says nothing about what was in it. */
export const readPart = async (part: Blob): Promise<Uint8Array<ArrayBuffer>> => {
  try {
    return new Uint8Array(await part.arrayBuffer());
  } catch {
    throw new NotChecked(
      'no_dossier',
      'The file cannot be read. It may have been changed, moved or removed since it was chosen: choose it again.',
    );
  }
};

/** The records at the end of a zip: its end, and before that in a large zip two others. Source: APPNOTE.TXT §4.3.14 ff. */
const END = { signature: 0x06054b50, length: 22 } as const;
const FAR_END = { signature: 0x06064b50, locator: 0x07064b50, locatorLength: 20, length: 76 } as const;
const MAX_COMMENT = 0xffff;
/** An extra field with another name of a file, which some programs use instead. No dossier has it. */
const OTHER_NAME = 0x7075;

const refuse = (): never => {
  throw new Error('programs could find different files in it');
};

/** Where the header before each file begins. Throws if the directory is truncated, or has another name of a file. */
const readOffsets = (directory: DataView): number[] => {
  const offsets: number[] = [];
  for (let at = 0; at < directory.byteLength; ) {
    offsets.push(directory.getUint32(at + 42, true));
    const [name = 0, extra = 0, comment = 0] = [28, 30, 32].map((field) => directory.getUint16(at + field, true));
    const extraEnd = at + 46 + name + extra;
    for (let field = extraEnd - extra; field + 4 <= extraEnd; field += 4 + directory.getUint16(field + 2, true))
      if (directory.getUint16(field, true) === OTHER_NAME) refuse();
    at = extraEnd + comment;
    if (at > directory.byteLength) refuse();
  }
  return offsets;
};

/**
 * Throws an Error if another program could find other files in a zip. Programs look for its directory at the position that the end
 * of the file states, or directly before that end, read all of it, or the stated number of entries, and may find a second name of a
 * file. Returns where the header before each file begins.
 */
export const checkDirectory = async (zip: Blob): Promise<number[]> => {
  const start = Math.max(0, zip.size - MAX_COMMENT - END.length - FAR_END.length);
  const tail = new DataView((await readPart(zip.slice(start, zip.size))).buffer);
  let at = tail.byteLength - END.length;
  while (at >= 0 && tail.getUint32(at, true) !== END.signature) at -= 1;
  if (at < 0) refuse();
  let [here, count] = [tail.getUint16(at + 8, true), tail.getUint16(at + 10, true)];
  let [size, offset] = [tail.getUint32(at + 12, true), tail.getUint32(at + 16, true)];
  let end = at;
  // In a large zip, what does not fit is in a second record. Some programs read that record only then, others always.
  if (at >= FAR_END.length && tail.getUint32(at - FAR_END.locatorLength, true) === FAR_END.locator) {
    end = at - FAR_END.length;
    const far = (from: number): number => Number(tail.getBigUint64(from, true));
    const fits = (near: number, value: number, limit: number): boolean => near === value || near === limit;
    const [farHere = 0, farCount = 0, farSize = 0, farOffset = 0] = [24, 32, 40, 48].map((field) => far(end + field));
    const agrees =
      fits(here, farHere, 0xffff) &&
      fits(count, farCount, 0xffff) &&
      fits(size, farSize, 0xffff_ffff) &&
      fits(offset, farOffset, 0xffff_ffff);
    if (tail.getUint32(end, true) !== FAR_END.signature || far(at - 12) !== start + end || !agrees) refuse();
    [here, count, size, offset] = [farHere, farCount, farSize, farOffset];
  }
  const comment = tail.getUint16(at + 20, true);
  if (here !== count || offset + size !== start + end || at + END.length + comment !== tail.byteLength) refuse();
  const directory = new DataView((await readPart(zip.slice(offset, offset + size))).buffer);
  const offsets = readOffsets(directory);
  return offsets.length === count ? offsets : refuse();
};
