import type { Reader } from 'unzipit';
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

/** The header before a file, up to its name. Source: APPNOTE.TXT §4.3.7. */
const HEADER_BYTES = 30;
const [ENCRYPTED, SIZES_FOLLOW] = [0x1, 0x8];
/** The bytes that may follow a file whose sizes are not in its header. */
const MAX_SIZES = 24;

/** The records at the end of a zip: its end, and before that in a large zip two others. Source: APPNOTE.TXT §4.3.14 ff. */
const END = { signature: 0x06054b50, length: 22 } as const;
const FAR_END = { signature: 0x06064b50, locator: 0x07064b50, locatorLength: 20, length: 76 } as const;
const MAX_COMMENT = 0xffff;
/** An extra field with another name of a file, which some programs use instead. No dossier has it. */
const OTHER_NAME = 0x7075;

const refuse = (): never => {
  throw new Error('programs could find different files in it');
};

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

/** Throws if one of the extra fields of a file is another name. */
const checkExtra = (fields: Uint8Array): void => {
  const view = viewOf(fields);
  for (let at = 0; at + 4 <= fields.length; at += 4 + view.getUint16(at + 2, true))
    if (view.getUint16(at, true) === OTHER_NAME) refuse();
};

/** A file as the directory describes it. `offset`: where the header before it begins; `packed`: its bytes in the zip. */
type Described = { offset: number; flags: number; method: number; packed: number; size: number; name: Uint8Array };

/** Throws if the directory is truncated, or has another name of a file. */
const readEntries = (bytes: Uint8Array): Described[] => {
  const directory = viewOf(bytes);
  const entries: Described[] = [];
  for (let at = 0; at < bytes.length; ) {
    const [flags = 0, method = 0, length = 0, extra = 0, comment = 0] = [8, 10, 28, 30, 32].map((field) =>
      directory.getUint16(at + field, true),
    );
    const [packed = 0, size = 0, offset = 0] = [20, 24, 42].map((field) => directory.getUint32(at + field, true));
    entries.push({ offset, flags, method, packed, size, name: bytes.subarray(at + 46, at + 46 + length) });
    const extraEnd = at + 46 + length + extra;
    at = extraEnd + comment;
    if (at > bytes.length) refuse();
    checkExtra(bytes.subarray(extraEnd - extra, extraEnd));
  }
  return entries;
};

/**
 * Throws if the header before a file differs from the directory, or if there are bytes before `end` that belong to no file: programs
 * that read no directory find the files that are one after another from the start.
 */
const checkHeaders = async (reader: Reader, entries: readonly Described[], end: number): Promise<void> => {
  let [next, spare] = [0, 0];
  for (const { offset, name, ...stated } of entries.toSorted((one, other) => one.offset - other.offset)) {
    const bytes = await reader.read(offset, HEADER_BYTES + name.length);
    const header = viewOf(bytes);
    const [flags = 0, method = 0, length = 0, extra = 0] = [6, 8, 26, 28].map((field) => header.getUint16(field, true));
    const follow = (flags & SIZES_FOLLOW) !== 0;
    // In the header the sizes may be 0: then they follow the content.
    const agrees = (at: number, size: number) => [size, follow ? 0 : size].includes(header.getUint32(at, true));
    if (!agrees(18, stated.packed) || !agrees(22, stated.size)) refuse();
    if (method !== stated.method || ((flags ^ stated.flags) & ENCRYPTED) !== 0) refuse();
    if (length !== name.length || name.some((byte, at) => byte !== bytes[HEADER_BYTES + at])) refuse();
    if (offset < next || offset > next + spare) refuse();
    const extraStart = offset + bytes.length;
    if (extra > 0) checkExtra(await reader.read(extraStart, extra));
    [next, spare] = [extraStart + extra + stated.packed, follow ? MAX_SIZES : 0];
  }
  if (end < next || end > next + spare) refuse();
};

/**
 * Throws an Error if another program could find other files in a zip. Programs look for its directory at the position that the end
 * of the file states, or directly before that end, read all of it, or the stated number of entries, and may find a second name of a
 * file. Others read the headers before the files, or no directory at all. `reader`: of the zip.
 */
export const checkDirectory = async (zip: Blob, reader: Reader): Promise<void> => {
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
  const entries = readEntries(await readPart(zip.slice(offset, offset + size)));
  if (entries.length !== count) refuse();
  await checkHeaders(reader, entries, offset);
};
