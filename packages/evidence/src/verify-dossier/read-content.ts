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

/** Throws for another text, and for an object that has a key twice, which readers understand differently. */
export const parseObject = (text: string): Json => {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('not a JSON object');
  let keys = 0;
  for (const [, colon] of text.matchAll(TEXTS)) if (colon !== '') keys += 1;
  if (keys !== countKeys(value)) throw new Error('a key occurs twice');
  return value as Json;
};

/** A member that must be an object. */
export const objectIn = (value: Json, key: string): Json => {
  const member = value[key];
  if (typeof member !== 'object' || member === null) throw new Error(`${key} is not an object`);
  return member as Json;
};

/** The rows of a CSV text as RFC 4180 and our own tables write them, without empty lines. Throws for other texts. */
export const readCells = (text: string): string[][] => {
  const rows: string[][] = [];
  let row: string[] = [];
  const next = /(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))(,|\r\n|\n|\r|$)/y;
  next.lastIndex = text.startsWith('\ufeff') ? 1 : 0;
  while (next.lastIndex < text.length || row.length > 0) {
    const at = next.lastIndex;
    const cell = next.exec(text);
    if (!cell) throw new Error(`a table cannot be read after ${at} characters`);
    row.push(cell[1]?.replaceAll('""', '"') ?? cell[2] ?? '');
    if (cell[3] === ',') continue;
    if (row.length > 1 || row[0] !== '') rows.push(row);
    row = [];
  }
  return rows;
};

/** A row of a table with a header, by the names of its columns. */
export type Row = Record<string, string | undefined>;

export const readTable = (files: DossierFiles, path: string): Row[] => {
  const [header = [], ...rows] = readCells(readText(files, path));
  return rows.map((cells) => Object.fromEntries(header.map((name, column) => [name, cells[column]])));
};

/** A cell of a column that the table must have. */
export const cellIn = (row: Row, column: string): string | undefined => {
  if (!(column in row)) throw new Error(`the table has no column ${column}`);
  return row[column];
};

/** Seconds since 1970 of a time in the format of the service. Throws for others. */
export const secondsOf = (text: unknown): number => {
  if (typeof text !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(text))
    throw new Error(`not a time: ${String(text).slice(0, 40)}`);
  const milliseconds = Date.parse(`${text.slice(0, 19)}Z`);
  if (Number.isNaN(milliseconds)) throw new Error(`not a time: ${text}`);
  return milliseconds / 1_000;
};

/** `2026-11-20 14:00:00 UTC`. */
export const utc = (seconds: number): string =>
  `${new Date(seconds * 1_000).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
