/** How a cell looks. Each is a cell format of the workbook, in this order after the default one. */
const STYLES = ['text', 'header', 'good', 'bad', 'doubtful'] as const;
export type Fill = (typeof STYLES)[number];

export const styleOf = (fill: Fill): number => STYLES.indexOf(fill) + 1;

const LETTERS = 26;
const LETTER_A = 65;

/** The name of a column, counted from 0: `A`, `Z`, `AA`. */
export const columnLetters = (column: number): string =>
  (column < LETTERS ? '' : columnLetters(Math.floor(column / LETTERS) - 1)) +
  String.fromCharCode(LETTER_A + (column % LETTERS));

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** What XML has no entity for, and what reads like the escape of such a character. CR would be read as LF. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: XML cannot contain control characters
const UNWRITABLE = /[\0-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)/g;

/** Writes a text as the content of an element. Characters that XML cannot contain are written as `_x000D_`. */
export const escapeXml = (text: string): string =>
  text
    .toWellFormed()
    .replace(UNWRITABLE, (found) => `_x${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`)
    .replace(/[&<>"]/g, (found) => ENTITIES[found] ?? found);

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const DOCUMENT = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

const CONTENT_TYPES = `${XML}<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="${TYPE}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${TYPE}.worksheet+xml"/><Override PartName="/xl/styles.xml" ContentType="${TYPE}.styles+xml"/></Types>`;

const relationships = (targets: Readonly<Record<string, string>>): string =>
  `${XML}<Relationships xmlns="${PACKAGE}/relationships">${Object.entries(targets)
    .map(([type, target], n) => `<Relationship Id="rId${n + 1}" Type="${DOCUMENT}/${type}" Target="${target}"/>`)
    .join('')}</Relationships>`;

const solid = (colour: string): string =>
  `<fill><patternFill patternType="solid"><fgColor rgb="FF${colour}"/><bgColor indexed="64"/></patternFill></fill>`;

/** The colours with which Excel marks good, bad and neutral cells. The first two fills are fixed by the format. */
const FILLS = `<fills count="6"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>${['D9E1F2', 'C6EFCE', 'FFC7CE', 'FFEB9C'].map(solid).join('')}</fills>`;
const FONT = '<sz val="11"/><name val="Calibri"/><family val="2"/>';
/** The number formats *Text* and *General*. LibreOffice shows a truth value that has the format *Text* as a number. */
const [TEXT_FORMAT, GENERAL] = [49, 0];

const cellFormat = (fill: number, font = 0, format = GENERAL): string =>
  `<xf numFmtId="${format}" fontId="${font}" fillId="${fill}" borderId="0" xfId="0" applyNumberFormat="1"${font > 0 ? ' applyFont="1"' : ''}${fill > 0 ? ' applyFill="1"' : ''}/>`;

const STYLE_SHEET = `${XML}<styleSheet xmlns="${MAIN}"><fonts count="2"><font>${FONT}</font><font><b/>${FONT}</font></fonts>${FILLS}<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="${STYLES.length + 1}"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>${cellFormat(0, 0, TEXT_FORMAT)}${cellFormat(2, 1, TEXT_FORMAT)}${cellFormat(3)}${cellFormat(4)}${cellFormat(5)}</cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`;

const SHEET = 'Results';
const COLUMN_WIDTH = 22;

/**
 * The fixed parts of a workbook with one sheet, and what is before and after the rows of that sheet. The header row stays in
 * view, and all columns have filters.
 */
export const workbookParts = ({ columns, lastColumn, rows }: { columns: number; lastColumn: string; rows: number }) => {
  const lastRow = rows + 1;
  return {
    parts: {
      '[Content_Types].xml': CONTENT_TYPES,
      '_rels/.rels': relationships({ officeDocument: 'xl/workbook.xml' }),
      'xl/workbook.xml': `${XML}<workbook xmlns="${MAIN}" xmlns:r="${DOCUMENT}"><sheets><sheet name="${SHEET}" sheetId="1" r:id="rId1"/></sheets><definedNames><definedName name="_xlnm._FilterDatabase" localSheetId="0" hidden="1">${SHEET}!$A$1:$${lastColumn}$${lastRow}</definedName></definedNames></workbook>`,
      'xl/_rels/workbook.xml.rels': relationships({ worksheet: 'worksheets/sheet1.xml', styles: 'styles.xml' }),
      'xl/styles.xml': STYLE_SHEET,
    },
    sheetName: 'xl/worksheets/sheet1.xml',
    sheetBegin: `${XML}<worksheet xmlns="${MAIN}"><dimension ref="A1:${lastColumn}${lastRow}"/><sheetViews><sheetView tabSelected="1" workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetFormatPr defaultRowHeight="15"/><cols><col min="1" max="${columns}" width="${COLUMN_WIDTH}" customWidth="1"/></cols><sheetData>`,
    sheetEnd: `</sheetData><autoFilter ref="A1:${lastColumn}${lastRow}"/></worksheet>`,
  };
};
