import type { Face } from './page-fonts.js';

/** How one text is drawn. `height`: maximum height in points; `sizes`: font sizes, largest first; `mark`: at the end of a text that was cut. */
export type Style = {
  face?: Face;
  color?: string;
  height?: number;
  sizes?: readonly number[];
  align?: 'left' | 'right' | 'center';
  mark?: string;
};

/** A file within the document. `relation`: to the document, in the words of PDF/A-3. */
export type Attachment = {
  name: string;
  bytes: Uint8Array;
  type: string;
  description: string;
  modifiedAt: Date;
  relation: 'Source' | 'Supplement';
};

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
  /** Rows on new pages, with the head repeated on each; a long cell takes several lines. Yields to other work after every row. */
  list: (style: ListStyle, head: readonly string[], rows: AsyncIterable<readonly string[]>) => Promise<void>;
  /** Large, pale and slanting across this page and those after it. */
  watermark: (text: string) => void;
  /** A QR code of `text` at the right, with `caption` below it; paragraphs beside it are narrower. */
  qrCode: (text: string, caption: string) => void;
  /** Begins another page unless `height` points are left on this one. */
  ensureRoom: (height: number, footer: string) => void;
  attach: (attachment: Attachment) => void;
  /** Writes the footer and resolves to the document. */
  close: (footer: string) => Promise<Uint8Array>;
};
