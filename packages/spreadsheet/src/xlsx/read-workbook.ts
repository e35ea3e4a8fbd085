import { AppError } from '@vat/domain/errors';
import { isBlank } from '../cells.js';
import type { ScannedRow } from '../scan-rows.js';
import { type Archive, openArchive, type Part } from './archive.js';
import { readFormats } from './cell-formats.js';
import type { DateSystem } from './cell-value.js';
import { damaged, invalidFile } from './invalid-file.js';
import { type SheetContext, scanSheet } from './read-sheet.js';
import { readXml } from './read-xml.js';
import { readSharedStrings } from './texts.js';

/** A relationship of a part: the name of the other part, and the last word of its type. */
type Relationship = { target: string; type: string };

/** The full name of a part that another one in `folder` refers to, absolutely or relatively. */
const resolveName = (folder: string, target: string): string => {
  try {
    return decodeURIComponent(new URL(target.replaceAll('\\', '/'), `file:///${folder}`).pathname.slice(1));
  } catch (error) {
    throw damaged('the name of a part is broken', error);
  }
};

/** Reads the relationships of the part `folder` + `file`, by their ids. Links to other files are left out. */
const readRelationships = (archive: Archive, folder: string, file: string): Map<string, Relationship> => {
  const found = new Map<string, Relationship>();
  const part = archive.find(`${folder}_rels/${file}.rels`);
  if (part === null) return found;
  readXml(part, {
    open: (name, { Id = '', Target = '', Type = '', TargetMode }) => {
      if (name !== 'Relationship' || TargetMode === 'External') return;
      found.set(Id, { target: resolveName(folder, Target), type: Type.slice(Type.lastIndexOf('/') + 1) });
    },
  });
  return found;
};

type SheetEntry = { name: string; isHidden: boolean; part: Part };

/** `readContext` reads what the cells of all sheets refer to. */
type Workbook = { sheets: SheetEntry[]; readContext: () => SheetContext };

const partOfType = (archive: Archive, relationships: Map<string, Relationship>, type: string): Part | null => {
  const found = [...relationships.values()].find((relationship) => relationship.type === type);
  return found === undefined ? null : archive.find(found.target);
};

/** The name of an attribute with a namespace prefix, which the workbook chooses. */
const relationshipId = (attributes: Readonly<Record<string, string>>): string => {
  const name = Object.keys(attributes).find((key) => key.endsWith(':id'));
  return name === undefined ? '' : (attributes[name] ?? '');
};

const openWorkbook = (bytes: Uint8Array): Workbook => {
  const archive = openArchive(bytes);
  const main =
    partOfType(archive, readRelationships(archive, '', ''), 'officeDocument') ?? archive.find('xl/workbook.xml');
  if (main === null) throw damaged('it has no list of sheets');
  const folder = main.name.slice(0, main.name.lastIndexOf('/') + 1);
  const relationships = readRelationships(archive, folder, main.name.slice(folder.length));
  const sheets: SheetEntry[] = [];
  const taken = new Set<string>();
  let dateSystem: DateSystem = '1900';
  readXml(main, {
    open: (name, attributes) => {
      if (name === 'workbookPr' && /^(?:1|true|on)$/.test(attributes.date1904 ?? '')) dateSystem = '1904';
      if (name !== 'sheet') return;
      const relationship = relationships.get(relationshipId(attributes));
      // Charts, dialogs and macros can be sheets too.
      if (relationship?.type !== 'worksheet') return;
      const part = archive.find(relationship.target);
      if (part === null) throw damaged('a sheet is missing');
      // Each part is unpacked once, so that all of them together stay within the limit.
      if (taken.has(part.name)) throw damaged('two sheets are the same part');
      taken.add(part.name);
      sheets.push({ name: attributes.name ?? '', isHidden: /hidden$/i.test(attributes.state ?? ''), part });
    },
  });
  const readContext = () => ({
    strings: readSharedStrings(partOfType(archive, relationships, 'sharedStrings')),
    formatOf: readFormats(partOfType(archive, relationships, 'styles')),
    dateSystem,
  });
  return { sheets, readContext };
};

/** The names of a workbook's sheets in order; throws INVALID_FILE. */
export const readSheetNames = (bytes: Uint8Array): string[] => openWorkbook(bytes).sheets.map(({ name }) => name);

/** Names that an error lists; a workbook may have thousands. */
const LISTED_NAMES = 20;

/** The names of sheets as a sentence lists them. */
export const listNames = (names: readonly string[]): string => {
  const listed = names.slice(0, LISTED_NAMES).map((name) => `“${name.slice(0, 60)}”`);
  const more = names.length > LISTED_NAMES ? ` and ${names.length - LISTED_NAMES} more` : '';
  return `${listed.join(', ')}${more}`;
};

const unknownSheet = (wanted: string, sheets: readonly SheetEntry[]): AppError => {
  const names = listNames(sheets.map(({ name }) => name));
  return invalidFile(`The workbook has no sheet “${wanted.slice(0, 60)}”. Its sheets are ${names}.`);
};

const fold = (name: string): string => name.trim().normalize('NFC').toLowerCase();

/** The sheet with this name. As in a spreadsheet, upper and lower case are the same. */
const findSheet = (sheets: readonly SheetEntry[], wanted: string): SheetEntry => {
  const found = sheets.find(({ name }) => name === wanted) ?? sheets.find(({ name }) => fold(name) === fold(wanted));
  if (found === undefined) throw unknownSheet(wanted, sheets);
  return found;
};

/** `rows`: the rows with text, read as they are taken. */
type ReadSheet = { sheet: string; sheets: string[]; rows: Iterable<ScannedRow> };

function* chain(first: ScannedRow, rest: Iterator<ScannedRow>): Generator<ScannedRow> {
  yield first;
  for (let next = rest.next(); !next.done; next = rest.next()) yield next.value;
}

/** The rows of a sheet from the first one with a visible character; null when it has none. */
const findRows = (part: Part, context: SheetContext): Iterable<ScannedRow> | null => {
  const rows = scanSheet(part, context);
  for (let next = rows.next(); !next.done; next = rows.next()) {
    if (next.value.isTooWide || !next.value.cells.every(isBlank)) return chain(next.value, rows);
  }
  return null;
};

/**
 * Reads a sheet of an Excel workbook (.xlsx): the one called `wanted`, else the first one with data, visible ones before hidden
 * ones. Works in Node and in browsers. Time and memory are bounded by 50 MiB unpacked.
 *
 * @throws AppError INVALID_FILE (damaged, protected, no such sheet), EMPTY_FILE, FILE_TOO_LARGE
 */
export const readWorkbook = (bytes: Uint8Array, wanted: string | undefined): ReadSheet => {
  const { sheets, readContext } = openWorkbook(bytes);
  const names = sheets.map(({ name }) => name);
  const candidates =
    wanted === undefined
      ? [...sheets.filter(({ isHidden }) => !isHidden), ...sheets.filter(({ isHidden }) => isHidden)]
      : [findSheet(sheets, wanted)];
  const context = readContext();
  for (const { name, part } of candidates) {
    const rows = findRows(part, context);
    if (rows !== null) return { sheet: name, sheets: names, rows };
  }
  throw new AppError('EMPTY_FILE');
};
