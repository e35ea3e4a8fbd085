import { inflateSync } from 'node:zlib';

/** The objects of a PDF as pdfkit writes them, by number: the text before the stream, and the unpacked stream. */
type PdfObject = { text: string; stream: string | null };

const readObjects = (file: string): Map<number, PdfObject> => {
  const objects = new Map<number, PdfObject>();
  for (const [, number = '', body = ''] of file.matchAll(/(?:^|\n)(\d+) 0 obj\n([\s\S]*?)\nendobj/g)) {
    const [text = '', rest] = body.split(/\nstream\n/);
    const raw = rest === undefined ? null : Buffer.from(rest.replace(/\n?endstream$/, ''), 'latin1');
    const isPacked = text.includes('/FlateDecode');
    objects.set(Number(number), { text, stream: raw && (isPacked ? inflateSync(raw) : raw).toString('latin1') });
  }
  return objects;
};

const RULES_OF_FILES = ['/F (', '/UF (', '/AFRelationship /', '/Desc ('];
const FORBIDDEN = [
  '/Encrypt',
  '/JavaScript',
  '/OpenAction',
  '/AA ',
  '/Launch',
  '/Annots',
  '/Subtype /Type1',
  '/CIDSet',
];

/** The rows and columns of the rectangles of a page's QR code are read from its drawing: `x y width height re`. */
const RECTANGLE = /(-?[\d.]+) (-?[\d.]+) (-?[\d.]+) (-?[\d.]+) re/g;

/** What an examination of a PDF finds. */
type Examined = {
  /** The rules of ISO 19005-3 (level B) that it breaks, as far as they concern what our documents contain. */
  faults: string[];
  /** The drawing of each page, in order. */
  drawings: string[];
};

const faultsOfFonts = (objects: ReadonlyMap<number, PdfObject>, drawings: readonly string[]): string[] => {
  const all = [...objects.values()].map(({ text }) => text);
  const descriptors = all.filter((text) => text.includes('/Type /FontDescriptor'));
  const composite = all.filter((text) => text.includes('/Subtype /Type0'));
  // Glyph 0 is drawn for a character that the font does not have.
  const codes = drawings.flatMap((drawing) => [...drawing.matchAll(/<([0-9a-f]+)>/g)].map(([, hex = '']) => hex));
  const isMissing = codes.some((hex) => hex.match(/.{4}/g)?.some((code) => code === '0000'));
  return [
    ...(descriptors.length === 0 || descriptors.some((text) => !text.includes('/FontFile2'))
      ? ['font not embedded']
      : []),
    ...(composite.some((text) => !text.includes('/ToUnicode')) ? ['font without Unicode'] : []),
    ...(isMissing ? ['missing glyph'] : []),
  ];
};

const faultsOfFiles = (objects: ReadonlyMap<number, PdfObject>, catalog: string): string[] => {
  const all = [...objects].map(([number, { text }]) => ({ number, text }));
  const associated = new Set((/\/AF \[(.*?)\]/.exec(catalog)?.[1] ?? '').split(' 0 R').map(Number));
  const specs = all.filter(({ text }) => text.includes('/Type /Filespec'));
  const embedded = all.filter(({ text }) => text.includes('/Type /EmbeddedFile'));
  return [
    ...specs.flatMap(({ text }) =>
      RULES_OF_FILES.filter((rule) => !text.includes(rule)).map((rule) => `file without ${rule}`),
    ),
    ...specs.flatMap(({ number }) => (associated.has(number) ? [] : ['file not associated'])),
    ...embedded.flatMap(({ text }) => (text.includes('/ModDate') ? [] : ['file without date'])),
    ...embedded.flatMap(({ text }) => (/\/Subtype \/\w+#2F/.test(text) ? [] : ['file without type'])),
  ];
};

/** Examines a PDF that pdfkit wrote. It is no general validator: it knows the constructs of our documents. */
export const examinePdf = (bytes: Uint8Array): Examined => {
  const file = Buffer.from(bytes).toString('latin1');
  const objects = readObjects(file);
  const textOf = (reference: string | undefined): PdfObject | undefined => objects.get(Number(reference));
  const catalog = [...objects.values()].find(({ text }) => text.includes('/Type /Catalog'))?.text ?? '';
  const metadata = textOf(/\/Metadata (\d+) 0 R/.exec(catalog)?.[1]);
  const intent = textOf(/\/OutputIntents \[(\d+) 0 R\]/.exec(catalog)?.[1]);
  const profile = textOf(/\/DestOutputProfile (\d+) 0 R/.exec(intent?.text ?? '')?.[1]);
  const drawings = [...objects.values()].flatMap(({ text }) => {
    const contents = /\/Type \/Page\n[\s\S]*\/Contents (\d+) 0 R|\/Contents (\d+) 0 R[\s\S]*\/Type \/Page\n/.exec(text);
    const drawing = textOf(contents?.[1] ?? contents?.[2])?.stream;
    return drawing === null || drawing === undefined ? [] : [drawing];
  });
  const structure = [...objects.values()].map(({ text }) => text).join('\n');
  const faults = [
    ...(/^%PDF-1\.7\n%[\x80-\xff]{4}\n/.test(file) ? [] : ['header']),
    ...(/\/ID \[<[0-9a-f]{32}> <[0-9a-f]{32}>\]/.test(file.slice(file.lastIndexOf('trailer'))) ? [] : ['no file id']),
    ...(/<pdfaid:part>3<[\s\S]*<pdfaid:conformance>B</.test(metadata?.stream ?? '') ? [] : ['metadata']),
    ...(metadata?.text.includes('/Filter') ? ['packed metadata'] : []),
    ...(intent?.text.includes('/S /GTS_PDFA1') && profile?.stream?.slice(36, 40) === 'acsp'
      ? []
      : ['no output intent']),
    ...FORBIDDEN.filter((name) => structure.includes(name) || file.slice(file.lastIndexOf('trailer')).includes(name)),
    ...(drawings.length === 0 ? ['no page'] : []),
    ...faultsOfFonts(objects, drawings),
    ...faultsOfFiles(objects, catalog),
  ];
  return { faults, drawings };
};

/** Draws the rectangles of a page that lie in a square of 92 points at its right as dark pixels. For reading its QR code. */
export const paintRectangles = (drawing: string): { width: number; height: number; data: Uint8Array } => {
  const scale = 10;
  const [left, side] = [455, 92];
  const found = [...drawing.matchAll(RECTANGLE)].map(
    (found) => found.slice(1).map(Number) as [number, number, number, number],
  );
  const modules = found.filter(([x, , width]) => x >= left && x + width <= left + side);
  const top = Math.min(...modules.map(([, y]) => y)) - 10;
  const size = (side + 10) * scale;
  const data = new Uint8Array(size * size * 4).fill(255);
  for (const [x, y, width, height] of modules)
    for (let row = Math.round((y - top) * scale); row < Math.round((y - top + height) * scale); row++)
      for (let column = Math.round((x - left) * scale); column < Math.round((x - left + width) * scale); column++)
        data.fill(0, (row * size + column) * 4, (row * size + column) * 4 + 3);
  return { width: size, height: size, data };
};
