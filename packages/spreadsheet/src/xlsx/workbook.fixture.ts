import { strToU8, type Zippable, zipSync } from 'fflate';

const MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const TYPE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const RELS = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"';

/** A sheet: its rows as XML. `state`: whether it is hidden. */
type FixtureSheet = { name: string; rows: string; state?: string };

type FixtureWorkbook = {
  sheets: readonly FixtureSheet[];
  strings?: string;
  styles?: string;
  /** The element before the sheets. */
  properties?: string;
  /** Parts to add or replace, as bytes or text. */
  parts?: Readonly<Record<string, string | Uint8Array>>;
};

/** The XML of rows of inline texts, without references. */
export const rowsOf = (...rows: readonly (readonly string[])[]): string =>
  rows
    .map((cells) => `<row>${cells.map((text) => `<c t="inlineStr"><is><t>${text}</t></is></c>`).join('')}</row>`)
    .join('');

/** A workbook from parts as a program writes them, for what no program writes. */
export const makeWorkbook = ({ sheets, strings, styles, properties = '', parts = {} }: FixtureWorkbook): Uint8Array => {
  const all: Record<string, string | Uint8Array> = {
    '[Content_Types].xml': '<Types/>',
    '_rels/.rels': `<Relationships ${RELS}><Relationship Id="a" Type="${TYPE}/officeDocument" Target="/xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `<workbook ${MAIN} xmlns:r="${TYPE}">${properties}<sheets>${sheets
      .map(
        ({ name, state }, n) =>
          `<sheet name="${name}" ${state ? `state="${state}"` : ''} sheetId="${n}" r:id="s${n}"/>`,
      )
      .join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships ${RELS}><Relationship Id="x" Type="${TYPE}/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="y" Type="${TYPE}/styles" Target="styles.xml"/>${sheets
      .map((_, n) => `<Relationship Id="s${n}" Type="${TYPE}/worksheet" Target="worksheets/sheet${n}.xml"/>`)
      .join('')}</Relationships>`,
    ...Object.fromEntries(
      sheets.map(({ rows }, n) => [
        `xl/worksheets/sheet${n}.xml`,
        `<worksheet ${MAIN}><sheetData>${rows}</sheetData></worksheet>`,
      ]),
    ),
    ...(strings === undefined ? {} : { 'xl/sharedStrings.xml': `<sst ${MAIN}>${strings}</sst>` }),
    ...(styles === undefined ? {} : { 'xl/styles.xml': `<styleSheet ${MAIN}>${styles}</styleSheet>` }),
    ...parts,
  };
  const bytes: Zippable = {};
  for (const [name, part] of Object.entries(all)) bytes[name] = typeof part === 'string' ? strToU8(part) : part;
  return zipSync(bytes);
};

/** A workbook of one sheet with these rows as XML. */
export const workbookOf = (rows: string, more: Omit<FixtureWorkbook, 'sheets'> = {}): Uint8Array =>
  makeWorkbook({ sheets: [{ name: 'Sheet1', rows }], ...more });
