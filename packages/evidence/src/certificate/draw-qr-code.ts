import { encodeQR } from 'qr';

/** Modules of the light border that readers need around a code (ISO/IEC 18004). */
const BORDER = 4;

/** What drawing needs of a document of pdfkit. */
type Canvas = {
  rect: (x: number, y: number, width: number, height: number) => unknown;
  fill: (color: string) => unknown;
};

/** The dark runs of a row as `[first, end]`. */
const darkRuns = (modules: readonly boolean[]): [number, number][] => {
  const runs: [number, number][] = [];
  modules.forEach((isDark, column) => {
    const last = runs.at(-1);
    if (isDark && last?.[1] === column) last[1] = column + 1;
    else if (isDark) runs.push([column, column + 1]);
  });
  return runs;
};

/** Draws a QR code of `text` with its border as one shape into a square. Up to 15 % of it may be damaged or covered. */
export const drawQrCode = (
  canvas: Canvas,
  text: string,
  { left, top, size }: { left: number; top: number; size: number },
): void => {
  const rows = encodeQR(text, 'raw', { ecc: 'medium', border: BORDER });
  const module = size / rows.length;
  rows.forEach((modules, row) => {
    for (const [first, end] of darkRuns(modules))
      canvas.rect(left + first * module, top + row * module, (end - first) * module, module);
  });
  canvas.fill('#000000');
};
