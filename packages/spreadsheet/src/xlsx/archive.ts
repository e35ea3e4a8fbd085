import { Inflate } from 'fflate';
import { damaged, invalidFile, SAVE_AGAIN } from './invalid-file.js';

/** The maximum of bytes in all parts of a workbook together, unpacked. */
const MAX_UNPACKED_BYTES = 50 * 1024 * 1024;

/** A part of a workbook. `read` unpacks it in chunks of at most a few megabytes, and throws INVALID_FILE when it is damaged. */
export type Part = { name: string; size: number; read: () => Generator<Uint8Array> };

/** The parts of a workbook by name. Names are compared without case, as the format requires. */
export type Archive = { names: readonly string[]; find: (name: string) => Part | null };

const END_RECORD = { signature: 0x06054b50, size: 22, maxComment: 0xffff };
const DIRECTORY_ENTRY = { signature: 0x02014b50, size: 46 };
const LOCAL_HEADER = { signature: 0x04034b50, size: 30 };
const ENCRYPTED = 1;
const [STORED, DEFLATED] = [0, 8];
const IN_ZIP64 = 0xffff_ffff;
const ZIP64_FIELD = 1;
const ZIP64_LOCATOR = { signature: 0x07064b50, size: 20 };
const ZIP64_END = { signature: 0x06064b50 };

/** Compressed bytes that are unpacked at once. They become at most a thousand times as many. */
const SLICE_BYTES = 4_096;

/** The position of the record at the end of the archive; a comment may follow it. */
const findEnd = (view: DataView): number => {
  const last = view.byteLength - END_RECORD.size;
  for (let at = last; at >= Math.max(0, last - END_RECORD.maxComment); at -= 1) {
    if (view.getUint32(at, true) === END_RECORD.signature) return at;
  }
  throw damaged('its end is missing');
};

type Entry = { name: string; method: number; crc: number; packed: number; size: number; at: number };

/** Replaces the sizes and the position that are in the zip64 field; some programs write one in small files too. */
const withZip64 = (entry: Entry, extra: DataView): Entry => {
  for (let at = 0; at + 4 <= extra.byteLength; at += 4 + extra.getUint16(at + 2, true)) {
    if (extra.getUint16(at, true) !== ZIP64_FIELD) continue;
    let from = at + 4;
    const next = (value: number): number => {
      if (value !== IN_ZIP64) return value;
      from += 8;
      return Number(extra.getBigUint64(from - 8, true));
    };
    const size = next(entry.size);
    const packed = next(entry.packed);
    return { ...entry, size, packed, at: next(entry.at) };
  }
  return entry;
};

/** Where the directory begins, and how many entries it has; in zip64 where the archive has its records. */
const findDirectory = (view: DataView): { count: number; at: number } => {
  const end = findEnd(view);
  const locator = end - ZIP64_LOCATOR.size;
  if (locator >= 0 && view.getUint32(locator, true) === ZIP64_LOCATOR.signature) {
    const record = Number(view.getBigUint64(locator + 8, true));
    if (view.getUint32(record, true) !== ZIP64_END.signature) throw damaged('its end is broken');
    return { count: Number(view.getBigUint64(record + 32, true)), at: Number(view.getBigUint64(record + 48, true)) };
  }
  return { count: view.getUint16(end + 10, true), at: view.getUint32(end + 16, true) };
};

/** Reads the directory at the end of the archive, the only list of its parts that every program agrees on. */
const readDirectory = (bytes: Uint8Array, view: DataView): Entry[] => {
  const { count, at: begin } = findDirectory(view);
  const entries: Entry[] = [];
  let at = begin;
  for (let n = 0; n < count; n += 1) {
    if (view.getUint32(at, true) !== DIRECTORY_ENTRY.signature) throw damaged('its directory is broken');
    const [nameLength, extraLength] = [view.getUint16(at + 28, true), view.getUint16(at + 30, true)];
    const nameAt = at + DIRECTORY_ENTRY.size;
    const name = new TextDecoder().decode(bytes.subarray(nameAt, nameAt + nameLength)).replaceAll('\\', '/');
    const extra = new DataView(bytes.buffer, bytes.byteOffset + nameAt + nameLength, extraLength);
    if (view.getUint16(at + 8, true) & ENCRYPTED)
      throw invalidFile(`The file is protected with a password. Remove the password. ${SAVE_AGAIN}`);
    const entry = {
      name,
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      packed: view.getUint32(at + 20, true),
      size: view.getUint32(at + 24, true),
      at: view.getUint32(at + 42, true),
    };
    entries.push(withZip64(entry, extra));
    at = nameAt + nameLength + extraLength + view.getUint16(at + 32, true);
  }
  return entries;
};

/** The packed bytes of a part, after its own header. */
const packedBytes = (bytes: Uint8Array, view: DataView, { at, packed }: Entry): Uint8Array => {
  if (view.getUint32(at, true) !== LOCAL_HEADER.signature) throw damaged('a part is not where its directory says');
  const from = at + LOCAL_HEADER.size + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
  if (from + packed > bytes.length) throw damaged('it ends early');
  return bytes.subarray(from, from + packed);
};

const CRC_POLYNOMIAL = 0xedb8_8320;

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? CRC_POLYNOMIAL ^ (value >>> 1) : value >>> 1;
  return value;
});

/** The CRC-32 of a zip archive, continued from that of the bytes before. Node has one, browsers do not. */
const crc32 = (bytes: Uint8Array, before = 0): number => {
  let crc = ~before;
  for (const byte of bytes) crc = (CRC_TABLE[(crc ^ byte) & 0xff] as number) ^ (crc >>> 8);
  return ~crc >>> 0;
};

function* unpack(packed: Uint8Array, { method, name }: Entry): Generator<Uint8Array> {
  if (method === STORED) return yield packed;
  if (method !== DEFLATED) throw damaged(`${name} is packed with an unknown method`);
  const unpacked: Uint8Array[] = [];
  const inflate = new Inflate((chunk) => unpacked.push(chunk));
  for (let from = 0; from < packed.length; from += SLICE_BYTES) {
    inflate.push(packed.subarray(from, from + SLICE_BYTES), from + SLICE_BYTES >= packed.length);
    yield* unpacked.splice(0);
  }
}

/** Unpacks a part and compares it with the size and the checksum in the directory, so that no part is larger than it states. */
function* readPart(bytes: Uint8Array, view: DataView, entry: Entry): Generator<Uint8Array> {
  let [size, crc] = [0, 0];
  try {
    for (const chunk of unpack(packedBytes(bytes, view, entry), entry)) {
      size += chunk.length;
      if (size > entry.size) break;
      crc = crc32(chunk, crc);
      yield chunk;
    }
  } catch (error) {
    throw isFault(error) ? damaged(`${entry.name} cannot be unpacked`, error) : error;
  }
  if (size !== entry.size || crc !== entry.crc) throw damaged(`the checksum of ${entry.name} is wrong`);
}

/** The errors of fflate, and of reading beyond the end of the file. */
const isFault = (error: unknown): boolean =>
  error instanceof RangeError || (error instanceof Error && 'code' in error && typeof error.code === 'number');

/**
 * Opens a zip archive. Nothing is unpacked before a part is read, and all parts together have at most 50 MiB.
 *
 * @throws AppError INVALID_FILE for a damaged, protected or too large archive
 */
export const openArchive = (bytes: Uint8Array): Archive => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let entries: Entry[];
  try {
    entries = readDirectory(bytes, view);
  } catch (error) {
    throw error instanceof RangeError ? damaged('its directory is broken', error) : error;
  }
  const total = entries.reduce((sum, { size }) => sum + size, 0);
  if (total > MAX_UNPACKED_BYTES)
    throw invalidFile(
      'The workbook has more than 50 MiB unpacked. Remove pictures and sheets that are not needed, or save the sheet as CSV (UTF-8).',
    );
  const byName = new Map(entries.map((entry) => [entry.name.toLowerCase(), entry]));
  return {
    names: entries.map(({ name }) => name),
    find: (name) => {
      const entry = byName.get(name.toLowerCase());
      return entry ? { name: entry.name, size: entry.size, read: () => readPart(bytes, view, entry) } : null;
    },
  };
};
