import type { DossierFiles } from './read-dossier-zip.js';

/** A file is missing that the rest of the verification needs. */
export class MissingFile extends Error {
  override name = 'MissingFile';
  constructor(readonly path: string) {
    super(`${path} is missing`);
  }
}

/** The bytes of a file that is kept. Throws {@link MissingFile}. */
export const bytesOf = (files: DossierFiles, path: string): Uint8Array => {
  files.lastRead = path;
  const bytes = files.get(path)?.bytes;
  if (!bytes) throw new MissingFile(path);
  return bytes;
};

/** Text in UTF-8. Throws for other bytes. A byte order mark is kept, because it is part of what was hashed. */
export const textOf = (bytes: Uint8Array): string =>
  new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);

export const readText = (files: DossierFiles, path: string): string => textOf(bytesOf(files, path));

/** A JSON object. Its content is not trusted: callers convert or compare each value. */
export type Json = Record<string, unknown>;

const countKeys = (value: unknown): number =>
  typeof value !== 'object' || value === null
    ? 0
    : Object.values(value).reduce((sum: number, member) => sum + countKeys(member), 0) +
      (Array.isArray(value) ? 0 : Object.keys(value).length);

/** Texts in JSON; in an object a key is followed by a colon. */
const TEXTS = /"[^"\\]*(?:\\.[^"\\]*)*"\s*(:?)/g;

/** Numbers that no dossier contains, as programs read and write them in different ways: with a fraction, an exponent, or large. */
const OTHER_NUMBER = /\d[.eE]|\d{16}/;

/**
 * Throws for another text, and for what readers understand differently: an object that has a key twice, and a number that is not a
 * whole one of at most 15 digits.
 */
export const parseObject = (text: string): Json => {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('not a JSON object');
  let keys = 0;
  const withoutTexts = text.replace(TEXTS, (_, colon: string) => {
    if (colon !== '') keys += 1;
    return ' ';
  });
  if (keys !== countKeys(value)) throw new Error('a key occurs twice');
  if (OTHER_NUMBER.test(withoutTexts)) throw new Error('a number is not a whole number of a dossier');
  return value as Json;
};

/** A member that must be an object. */
export const objectIn = (value: Json, key: string): Json => {
  const member = value[key];
  if (typeof member !== 'object' || member === null) throw new Error(`${key} is not an object`);
  return member as Json;
};

/** The rows of a CSV text as RFC 4180 and our own tables write them, without blank lines. Throws for other texts. */
export const readCells = (text: string): string[][] => {
  const rows: string[][] = [];
  let row: string[] = [];
  const next = /(?:"([^"]*(?:""[^"]*)*)"|((?:[^",\r\n][^,\r\n]*)?))(,|\r\n|\n|\r|$)/y;
  next.lastIndex = text.startsWith('\ufeff') ? 1 : 0;
  while (next.lastIndex < text.length || row.length > 0) {
    const at = next.lastIndex;
    const cell = next.exec(text);
    if (!cell) throw new Error(`a table cannot be read after ${at} characters`);
    row.push(cell[1]?.replaceAll('""', '"') ?? cell[2] ?? '');
    if (cell[3] === ',') continue;
    if (row.length > 1 || cell[0] !== cell[3]) rows.push(row);
    row = [];
  }
  return rows;
};

/** A row of a table with a header, by the names of its columns. */
export type Row = Record<string, string | undefined>;

/** The header and the rows of a table. Every cell must be below a column, or a spreadsheet would show it elsewhere. */
export const readCellsBelow = (files: DossierFiles, path: string): { header: string[]; rows: string[][] } => {
  const [header = [], ...rows] = readCells(readText(files, path));
  if (rows.some(({ length }) => length !== header.length))
    throw new Error('a row has more or fewer cells than the table has columns');
  return { header, rows };
};

/** The rows of a table by the names of its columns. Of two columns with one name, only one would be compared. */
export const readTable = (files: DossierFiles, path: string, columns?: readonly (readonly string[])[]): Row[] => {
  const { header, rows } = readCellsBelow(files, path);
  if (new Set(header).size !== header.length) throw new Error('a column occurs twice');
  if (columns && !columns.some((known) => JSON.stringify(known) === JSON.stringify(header)))
    throw new Error('it has other columns than every release has written');
  return rows.map((cells) => Object.fromEntries(header.map((name, column) => [name, cells[column]])));
};

/** A cell of a column that the table must have. */
export const cellIn = (row: Row, column: string): string | undefined => {
  if (!(column in row)) throw new Error(`the table has no column ${column}`);
  return row[column];
};

/** Milliseconds since 1970. Throws for a time that does not exist, such as 30 February or 24:00, which `Date.parse` accepts. */
const millisecondsOf = (time: string): number => {
  const milliseconds = Date.parse(`${time}Z`);
  if (Number.isNaN(milliseconds) || new Date(milliseconds).toISOString().slice(0, 19) !== time)
    throw new Error(`not a time: ${time.slice(0, 40)}`);
  return milliseconds;
};

/** Days since 1970 of the date with which a text begins. Throws for others. */
export const dayOf = (text: unknown): number =>
  Math.floor(millisecondsOf(`${String(text).slice(0, 10)}T00:00:00`) / 86_400_000);

/** Seconds since 1970 of a time in the format of the service. Throws for others. */
export const secondsOf = (text: unknown): number => {
  if (typeof text !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text))
    throw new Error(`not a time: ${String(text).slice(0, 40)}`);
  return millisecondsOf(text.slice(0, 19)) / 1_000;
};

/** `2026-11-20 14:00:00 UTC`. */
export const utc = (seconds: number): string =>
  `${new Date(seconds * 1_000).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
