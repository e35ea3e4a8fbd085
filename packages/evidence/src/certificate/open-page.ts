import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DocumentLanguage } from '@vat/domain';
import { TERMS } from '../languages/terms.js';
import { drawQrCode } from './draw-qr-code.js';
import { breakIntoLines, fitText, printableText } from './fit-text.js';
import type { Page, Style } from './page.js';
import { FACES, type Face, openPageFonts, type PageFonts } from './page-fonts.js';

/** In characters; longer than any reference. */
const MAX_CELL = 120;
/** Between two cells of a row, in points. */
const CELL_GAP = 6;
/** Of the text of a list, of its rows of one line, and of each further line, in points. */
const [LIST_SIZE, ROW_HEIGHT, LIST_LEADING] = [7.5, 12, 9];

const LEFT = 48;
const WIDTH = 499;
const LABEL_WIDTH = 132;
/** Only the footer is drawn below this position. */
const BOTTOM = 786;
/** Four letters in 190 points. */
const WATERMARK_WIDTH = 760;
const SIZES = [9.5, 8.5, 7.5];
const INK = '#1a1a1a';
const GREY = '#5c5c5c';

/** Width and height of a QR code with its border. */
const QR_SIZE = 92;

/**
 * Opens the page of a document (PDF/A-3b) whose creation date is `at`; the same drawing gives the same bytes. `title` and
 * `subject` go into the metadata as XML, so they must not contain `<` or `&`. `fonts`: to share them with other documents.
 */
export const openPage = async ({
  title,
  at,
  subject,
  language = 'en',
  fonts,
}: {
  title: string;
  at: Date;
  subject: string;
  language?: DocumentLanguage;
  fonts?: PageFonts;
}): Promise<Page> => {
  // Loaded when the first page is drawn: it would take a tenth of the start of the API, and many processes draw no page.
  const { default: PDFDocument } = await import('pdfkit');
  const faces = await (fonts ?? openPageFonts())();
  const doc = new PDFDocument({
    size: 'A4',
    // A text that reached a margin would start a second page.
    margins: { top: 0, left: 0, right: 0, bottom: 0 },
    lang: language,
    displayTitle: true,
    subset: 'PDF/A-3b',
    pdfVersion: '1.7',
    info: { Title: title, Subject: subject, CreationDate: at },
  });
  for (const face of Object.keys(FACES) as Face[]) {
    // Fonts that are parsed already are accepted as well, which the types do not say.
    doc.registerFont(face, faces[face] as unknown as Uint8Array);
  }
  const printable = (text: string, face: Face): string =>
    printableText((codePoint) => faces[face].hasGlyphForCodePoint(codePoint))(text);
  const { cut } = TERMS[language];
  const chunks: Buffer[] = [];
  doc.on('data', (chunk: Buffer) => chunks.push(chunk));
  const ended = new Promise<void>((resolve, reject) => doc.on('end', resolve).on('error', reject));
  let y = 44;
  let mark = '';
  /** What a QR code takes of the lines above `bottom`. */
  let aside = { width: 0, bottom: 0 };

  /** Draws a text at a position and returns its height. */
  const put = (raw: string, x: number, top: number, width: number, style: Style = {}): number => {
    const { face = 'plain', color = INK, align = 'left', sizes = SIZES } = style;
    const height = Math.max(0, Math.min(style.height ?? 26, BOTTOM - top));
    doc.font(face);
    const measure = (text: string, size: number, within: number) =>
      doc.fontSize(size).heightOfString(text, { width: within });
    const { text, size } = fitText(measure, style.mark ?? ` … ${cut}`)(printable(raw, face), { width, height, sizes });
    doc.fontSize(size).fillColor(color);
    const taken = doc.heightOfString(text, { width });
    doc.text(text, x, top, { width, align });
    return taken;
  };

  const drawMark = (): void => {
    if (mark === '') return;
    doc
      .save()
      .rotate(-35, { origin: [297, 421] })
      .fillOpacity(0.13)
      .fillColor('#c00000')
      .font('bold')
      .fontSize(WATERMARK_WIDTH / mark.length);
    doc.text(mark, 0, 310, { width: 595, align: 'center', lineBreak: false });
    doc.restore();
  };

  const drawFooter = (footer: string): void => {
    doc.font('plain').fontSize(7).fillColor(GREY);
    doc.text(printable(footer, 'plain'), LEFT, 796, { width: WIDTH, height: 26, ellipsis: true });
  };

  /** Drops the layouts that pdfkit stores of every text it has measured. Those of ten thousand rows would take gigabytes. */
  const forgetLayouts = (face: Face): void => {
    doc.font(face);
    // Not in the types of pdfkit.
    (doc as unknown as { _font: { layoutCache: object } })._font.layoutCache = Object.create(null);
  };

  /** What a cell of a list shows, which may take several lines. Measures widths only: wrapping ten thousand rows would take a minute. */
  const linesOf = (cell: string, width: number, face: Face): string[] => {
    // A character without a glyph becomes several.
    const shown = printable(cell.slice(0, MAX_CELL), face).replaceAll('\n', ' ');
    const isCut = shown.length > MAX_CELL || cell.length > MAX_CELL;
    const text = isCut ? `${shown.slice(0, MAX_CELL)}…` : shown;
    return breakIntoLines((part) => doc.widthOfString(part), text, width - CELL_GAP);
  };

  /** A row of a list. `makeRoom`: called with its height in points before it is drawn. */
  const putRow = (
    widths: readonly number[],
    cells: readonly string[],
    { face, makeRoom = () => undefined }: { face: Face; makeRoom?: (height: number) => void },
  ): void => {
    const whole = widths.reduce((sum, width) => sum + width, 0);
    const style = () => doc.font(face).fontSize(LIST_SIZE).fillColor(INK);
    style();
    const columns = cells.map((cell, column) => {
      const width = ((widths[column] ?? 0) / whole) * WIDTH;
      return { width, lines: linesOf(cell, width, face) };
    });
    const height = ROW_HEIGHT + (Math.max(...columns.map(({ lines }) => lines.length)) - 1) * LIST_LEADING;
    makeRoom(height);
    style();
    let x = LEFT;
    for (const { width, lines } of columns) {
      for (const [index, line] of lines.entries()) doc.text(line, x, y + index * LIST_LEADING, { lineBreak: false });
      x += width;
    }
    y += height;
  };

  return {
    list: async ({ title: heading, footer, widths }, head, rows) => {
      const beginPage = () => {
        drawFooter(footer);
        doc.addPage();
        y = 44;
        y += put(heading, LEFT, y, WIDTH, { face: 'bold', sizes: [10], height: 14 }) + 7;
        putRow(widths, head, { face: 'bold' });
        forgetLayouts('plain');
      };
      beginPage();
      for await (const cells of rows) {
        putRow(widths, cells, { face: 'plain', makeRoom: (height) => y + height > BOTTOM && beginPage() });
        await nextTurn();
      }
    },
    title: (text, line) => {
      y += put(text, LEFT, y, WIDTH, { face: 'bold', sizes: [19, 16, 14, 12, 10], height: 24 });
      y += put(line, LEFT, y, WIDTH, { color: GREY, sizes: [8.5, 7.5] }) + 8;
    },
    band: (color, left, right, sentence) => {
      doc.rect(LEFT, y, WIDTH, 68).fill(color);
      put(left, LEFT + 12, y + 8, 290, { face: 'bold', color: '#ffffff', sizes: [20, 16, 12, 9], height: 28 });
      put(right, LEFT + 306, y + 8, WIDTH - 318, {
        face: 'bold',
        color: '#ffffff',
        sizes: [20, 16, 12],
        height: 28,
        align: 'right',
      });
      put(sentence, LEFT + 12, y + 38, WIDTH - 24, { color: '#ffffff', sizes: [9, 8, 7], height: 22 });
      y += 74;
    },
    section: (text) => {
      y += 5;
      doc
        .moveTo(LEFT, y)
        .lineTo(LEFT + WIDTH, y)
        .lineWidth(0.5)
        .stroke('#b0b0b0');
      y += put(text, LEFT, y + 4, WIDTH, { face: 'bold', sizes: [10], height: 14 }) + 7;
    },
    row: (label, value, style) => {
      if (value === null) return;
      const taken = put(label, LEFT, y, LABEL_WIDTH - 8, { color: GREY, sizes: [8.5, 7.5, 7], height: 12 });
      y += Math.max(taken, put(value, LEFT + LABEL_WIDTH, y, WIDTH - LABEL_WIDTH, style)) + 3;
    },
    table: (widths, rows) => {
      const whole = widths.reduce((sum, width) => sum + width, 0);
      rows.forEach((cells, index) => {
        let x = LEFT;
        cells.forEach((cell, column) => {
          const width = ((widths[column] ?? 0) / whole) * WIDTH;
          put(cell, x, y, width - 6, {
            face: index === 0 ? 'bold' : 'plain',
            sizes: [7.5, 6.5],
            height: 10,
            mark: '…',
          });
          x += width;
        });
        y += 12;
      });
    },
    paragraph: (text, style) => {
      const width = y < aside.bottom ? WIDTH - aside.width : WIDTH;
      y += put(text, LEFT, y, width, { sizes: [8.5, 7.5], ...style }) + 3;
    },
    watermark: (text) => {
      mark = text;
      drawMark();
    },
    qrCode: (text, caption) => {
      const left = LEFT + WIDTH - QR_SIZE;
      drawQrCode(doc, text, { left, top: y, size: QR_SIZE });
      const below = y + QR_SIZE - 4;
      const taken = put(caption, left, below, QR_SIZE, { color: GREY, sizes: [7, 6], height: 10, align: 'center' });
      aside = { width: QR_SIZE + 10, bottom: below + taken };
    },
    ensureRoom: (height, footer) => {
      if (y + height <= BOTTOM) return;
      drawFooter(footer);
      doc.addPage();
      drawMark();
      y = 44;
    },
    attach: ({ name, bytes, type, description, modifiedAt, relation }) => {
      const options = { name, type, description, modifiedDate: modifiedAt, relationship: relation };
      doc.file(Buffer.from(bytes), options);
    },
    close: async (footer) => {
      drawFooter(footer);
      doc.end();
      await ended;
      return Buffer.concat(chunks);
    },
  };
};
