import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fitText, printableText } from './fit-text.js';

/** More characters than a cell of a list can show. */
const MAX_LINE = 120;

const LEFT = 48;
const WIDTH = 499;
const LABEL_WIDTH = 132;
/** Only the footer is drawn below this position. */
const BOTTOM = 786;
const SIZES = [9.5, 8.5, 7.5];
const INK = '#1a1a1a';
const GREY = '#5c5c5c';

/** The fonts of the page. DejaVu is used because the built-in fonts of PDF garble Greek, Polish and Bulgarian silently. */
const FACES = { plain: 'DejaVuSans.ttf', bold: 'DejaVuSans-Bold.ttf', mono: 'DejaVuSansMono.ttf' } as const;
type Face = keyof typeof FACES;

/** How one text is drawn. `height`: maximum height in points; `sizes`: font sizes, largest first. */
type Style = { face?: Face; color?: string; height?: number; sizes?: readonly number[]; align?: 'left' | 'right' };

/** A list on pages of its own. `widths` are shares of the line; `footer` stands on each page. */
type ListStyle = { title: string; footer: string; widths: readonly number[] };

/**
 * One A4 page, filled from the top, and the pages of its lists. Every text is shrunk or truncated to fit, so nothing is drawn
 * outside the page.
 */
export type Page = {
  /** The document's heading and a line below it. */
  title: (text: string, line: string) => void;
  /** A coloured band: two large texts side by side and a sentence below. */
  band: (color: string, left: string, right: string, sentence: string) => void;
  section: (text: string) => void;
  /** A label and its value; nothing if the value is null. `height`: maximum height of the value in points. */
  row: (label: string, value: string | null, style?: Style) => void;
  /** Rows of cells, the first in bold; `widths` are shares of the line. */
  table: (widths: readonly number[], rows: readonly (readonly string[])[]) => void;
  paragraph: (text: string, style?: Style) => void;
  /** Rows of one line each on new pages, with the head repeated on each. Yields to other work after every row. */
  list: (style: ListStyle, head: readonly string[], rows: AsyncIterable<readonly string[]>) => Promise<void>;
  /** Large, pale and slanting across the page. */
  watermark: (text: string) => void;
  /** Writes the footer and resolves to the document. */
  close: (footer: string) => Promise<Uint8Array>;
};

const loadFaces = () => {
  const resolve = createRequire(import.meta.url).resolve;
  const load = (face: Face) => readFileSync(resolve(`dejavu-fonts-ttf/ttf/${FACES[face]}`));
  return { plain: load('plain'), bold: load('bold'), mono: load('mono') };
};

/** Opens the page of a document whose creation date is `at`; the same drawing gives the same bytes. */
export const openPage = async ({
  title,
  at,
  subject,
  language = 'en',
}: {
  title: string;
  at: Date;
  subject: string;
  language?: string;
}): Promise<Page> => {
  // Loaded when the first page is drawn: they would take a fifth of the start of the API, and many processes draw no page.
  const { create } = await import('fontkit');
  const { default: PDFDocument } = await import('pdfkit');
  const faces = loadFaces();
  const doc = new PDFDocument({
    size: 'A4',
    // A text that reached a margin would start a second page.
    margins: { top: 0, left: 0, right: 0, bottom: 0 },
    lang: language,
    displayTitle: true,
    info: { Title: title, Subject: subject, CreationDate: at, ModDate: at },
  });
  // The fonts are given as buffers: pdfkit would read a path again for each page.
  for (const face of Object.keys(FACES) as Face[]) doc.registerFont(face, faces[face]);
  const glyphs = create(faces.plain);
  const printable = printableText(
    (codePoint) => 'hasGlyphForCodePoint' in glyphs && glyphs.hasGlyphForCodePoint(codePoint),
  );
  const chunks: Buffer[] = [];
  doc.on('data', (chunk: Buffer) => chunks.push(chunk));
  const ended = new Promise<void>((resolve, reject) => doc.on('end', resolve).on('error', reject));
  let y = 44;

  /** Draws a text at a position and returns its height. */
  const put = (raw: string, x: number, top: number, width: number, style: Style = {}): number => {
    const { face = 'plain', color = INK, align = 'left', sizes = SIZES } = style;
    const height = Math.max(0, Math.min(style.height ?? 26, BOTTOM - top));
    doc.font(face);
    const measure = (text: string, size: number, within: number) =>
      doc.fontSize(size).heightOfString(text, { width: within });
    const { text, size } = fitText(measure)(printable(raw), { width, height, sizes });
    doc.fontSize(size).fillColor(color);
    const taken = doc.heightOfString(text, { width });
    doc.text(text, x, top, { width, align });
    return taken;
  };

  const drawFooter = (footer: string): void => {
    doc.font('plain').fontSize(7).fillColor(GREY);
    doc.text(printable(footer), LEFT, 796, { width: WIDTH, height: 26, ellipsis: true });
  };

  /** Cells of one line, each cut to its width. Measures widths only: wrapping ten thousand rows would take a minute. */
  const putLine = (widths: readonly number[], cells: readonly string[], face: Face): void => {
    const whole = widths.reduce((sum, width) => sum + width, 0);
    doc.font(face).fontSize(7.5).fillColor(INK);
    let x = LEFT;
    for (const [column, cell] of cells.entries()) {
      const width = ((widths[column] ?? 0) / whole) * WIDTH;
      let text = printable(cell.slice(0, MAX_LINE)).replaceAll('\n', ' ');
      const isCut = () => doc.widthOfString(text) > width - 6;
      if (cell.length > MAX_LINE || isCut()) {
        while (text !== '' && doc.widthOfString(`${text}…`) > width - 6) text = text.slice(0, -1);
        text = `${text.toWellFormed()}…`;
      }
      doc.text(text, x, y, { lineBreak: false });
      x += width;
    }
    y += 12;
  };

  return {
    list: async ({ title: heading, footer, widths }, head, rows) => {
      const beginPage = () => {
        drawFooter(footer);
        doc.addPage();
        y = 44;
        y += put(heading, LEFT, y, WIDTH, { face: 'bold', sizes: [10], height: 14 }) + 7;
        putLine(widths, head, 'bold');
      };
      beginPage();
      for await (const cells of rows) {
        if (y + 12 > BOTTOM) beginPage();
        putLine(widths, cells, 'plain');
        await nextTurn();
      }
    },
    title: (text, line) => {
      y += put(text, LEFT, y, WIDTH, { face: 'bold', sizes: [19], height: 30 });
      y += put(line, LEFT, y, WIDTH, { color: GREY, sizes: [8.5, 7.5] }) + 8;
    },
    band: (color, left, right, sentence) => {
      doc.rect(LEFT, y, WIDTH, 60).fill(color);
      put(left, LEFT + 12, y + 8, 290, { face: 'bold', color: '#ffffff', sizes: [20, 16, 12, 9], height: 28 });
      put(right, LEFT + 306, y + 8, WIDTH - 318, {
        face: 'bold',
        color: '#ffffff',
        sizes: [20, 16, 12],
        height: 28,
        align: 'right',
      });
      put(sentence, LEFT + 12, y + 38, WIDTH - 24, { color: '#ffffff', sizes: [9, 8, 7], height: 13 });
      y += 68;
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
      const taken = put(label, LEFT, y, LABEL_WIDTH - 8, { color: GREY, sizes: [8.5, 7.5], height: 12 });
      y += Math.max(taken, put(value, LEFT + LABEL_WIDTH, y, WIDTH - LABEL_WIDTH, style)) + 3;
    },
    table: (widths, rows) => {
      const whole = widths.reduce((sum, width) => sum + width, 0);
      rows.forEach((cells, index) => {
        let x = LEFT;
        cells.forEach((cell, column) => {
          const width = ((widths[column] ?? 0) / whole) * WIDTH;
          put(cell, x, y, width - 6, { face: index === 0 ? 'bold' : 'plain', sizes: [7.5, 6.5], height: 10 });
          x += width;
        });
        y += 12;
      });
    },
    paragraph: (text, style) => {
      y += put(text, LEFT, y, WIDTH, { sizes: [8.5, 7.5], ...style }) + 3;
    },
    watermark: (text) => {
      doc
        .save()
        .rotate(-35, { origin: [297, 421] })
        .fillOpacity(0.13)
        .fillColor('#c00000')
        .font('bold')
        .fontSize(190);
      doc.text(text, 0, 310, { width: 595, align: 'center', lineBreak: false });
      doc.restore();
    },
    close: async (footer) => {
      drawFooter(footer);
      doc.end();
      await ended;
      return Buffer.concat(chunks);
    },
  };
};
