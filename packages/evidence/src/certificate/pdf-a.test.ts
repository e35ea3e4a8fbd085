import { coverageReportPdf } from '../coverage/coverage-report-pdf.js';
import { openPage } from './open-page.js';
import { examinePdf } from './pdf-a.fixture.js';

const at = new Date('2026-11-20T14:00:00.123Z');
let text: string;

beforeAll(async () => {
  const page = await openPage({ title: 'A page', subject: 'a subject', at });
  page.title('A title', 'a line');
  page.attach({
    ...{ name: 'a.json', bytes: Buffer.from('{}'), type: 'application/json', description: 'a file', modifiedAt: at },
    relation: 'Source',
  });
  text = Buffer.from(await page.close('a footer')).toString('latin1');
});

describe('pages', () => {
  it.each([
    ['%PDF-1.7', '%PDF-1.3', 'header'],
    ['/ID [', '/XX [', 'no file id'],
    ['<pdfaid:part>3<', '<pdfaid:part>2<', 'metadata'],
    ['/GTS_PDFA1', '/GTS_PDFX1', 'no output intent'],
    ['/FontFile2', '/FontFile9', 'font not embedded'],
    ['/ToUnicode', '/ToNothing', 'font without Unicode'],
    ['/AFRelationship /', '/XXRelationship /', 'file without /AFRelationship /'],
    ['/ModDate', '/XxxDate', 'file without date'],
    ['/application#2Fjson', '/application-json', 'file without type'],
    ['/AF [', '/XX [', 'file not associated'],
    ['/Lang', '/Annots', '/Annots'],
  ])('are examined for PDF/A-3b: with %s replaced by %s they fail', (from, to, fault) => {
    expect(text).toContain(from);
    expect(examinePdf(Buffer.from(text, 'latin1')).faults).toEqual([]);
    expect(examinePdf(Buffer.from(text.replaceAll(from, to), 'latin1')).faults).toContain(fault);
  });

  it('have a code point for what the font of that text has no glyph for', async () => {
    // Only the plain and bold fonts have it, the monospaced one does not.
    const page = await openPage({ title: 'A page', subject: 'a subject', at });
    page.row('label', 'Ѣ', { face: 'mono' });
    expect(examinePdf(await page.close('a footer')).faults).toEqual([]);
  });

  it('of coverage reports are PDF/A-3b', async () => {
    const counts = { covered: 1, stale: 0, weak: 0, invalid: 0, missing: 0, total: 1 };
    const coverage = {
      ...{ id: '0195f1e2-0000-7000-8000-000000000017', label: 'Ελλάδα', fileName: 'a.csv', batchId: null },
      ...{ maxAgeDays: 30, minGrade: 'named' as const, createdAt: at },
      ...counts,
    };
    const lines = (async function* () {})();
    const report = { coverage, lines, language: 'fr' as const, issuedAt: at, serviceUrl: 'https://vat.example' };
    expect(examinePdf(await coverageReportPdf(report)).faults).toEqual([]);
  });
});
