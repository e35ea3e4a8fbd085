import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Font } from 'fontkit';

/** The fonts of the page. DejaVu is used because the built-in fonts of PDF garble Greek, Polish and Bulgarian silently. */
export const FACES = { plain: 'DejaVuSans.ttf', bold: 'DejaVuSans-Bold.ttf', mono: 'DejaVuSansMono.ttf' } as const;
export type Face = keyof typeof FACES;

export type PageFonts = () => Promise<Record<Face, Font>>;

/**
 * A font for one document that shares the parsed tables. Glyphs are not shared: fontkit stores with a glyph the text that it was
 * first used for, and documents would depend on those before them.
 */
const forOneDocument = (font: Font): Font => Object.create(font, { _glyphs: { value: {}, writable: true } }) as Font;

const parseFonts = async (): Promise<Record<Face, Font>> => {
  // Loaded when the first page is drawn: it takes a tenth of the start of the API, and many processes draw no page.
  const { create } = await import('fontkit');
  const resolve = createRequire(import.meta.url).resolve;
  const parse = (face: Face) => create(readFileSync(resolve(`dejavu-fonts-ttf/ttf/${FACES[face]}`))) as Font;
  return { plain: parse('plain'), bold: parse('bold'), mono: parse('mono') };
};

/** Reads and parses the fonts once, with the first document. They take about 5 MB. */
export const openPageFonts = (): PageFonts => {
  let parsed: Promise<Record<Face, Font>> | null = null;
  return async () => {
    parsed ??= parseFonts();
    const { plain, bold, mono } = await parsed;
    return { plain: forOneDocument(plain), bold: forOneDocument(bold), mono: forOneDocument(mono) };
  };
};
