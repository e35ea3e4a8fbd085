import { createHash } from 'node:crypto';
import { type CheckBody, DOCUMENT_LANGUAGES } from '@vat/domain';
import decodeQR from 'qr/decode.js';
import { getDocumentProxy } from 'unpdf';
import { sampleBody, sampleId } from '../dossier/sample-source.fixture.js';
import { hashCheck } from '../hash-check.js';
import { TERMS } from '../languages/terms.js';
import { type CertificateInput, certificatePdf } from './certificate-pdf.js';
import { openPageFonts } from './page-fonts.js';
import { examinePdf, paintRectangles } from './pdf-a.fixture.js';
import { CERTIFICATE_TEXTS } from './texts/index.js';

const draw = certificatePdf(openPageFonts());
const publicUrl = `https://vat.example/verify/${sampleId('check', 1)}.qk3V0nJ1y8Zt5wXbR2uGdLe7`;
const token = (text: string) => Buffer.from(`a token of ${text}`);
const at = new Date('2026-11-20T14:00:00.123Z');
const anchor = {
  id: '0195f1e2-0000-7000-8000-000000000017',
  seq: 17,
  treeSize: 4567,
  root: Buffer.alloc(32, 7),
  closedAt: at,
  body: Buffer.from('{"seq":17}'),
  stamp: { genTime: at, authority: 'An anchoring authority', development: false, token: token('anchor') },
  proof: { leafIndex: 123, path: [Buffer.alloc(32, 8), Buffer.alloc(32, 9)] },
};
const input = (changes: Partial<CheckBody> = {}, more: Partial<CertificateInput> = {}): CertificateInput => ({
  check: hashCheck(sampleBody(1, changes)),
  issuedAt: at,
  language: 'en',
  serviceUrl: 'https://vat.example',
  publicUrl,
  timestamp: { genTime: at, authority: 'A true authority', development: false, token: token('check') },
  anchor,
  ...more,
});

/** Reads a PDF: the number of pages, the text with single spaces, and the bounding box of all text. */
const readPdf = async (bytes: Uint8Array) => {
  const document = await getDocumentProxy(new Uint8Array(bytes));
  const pages = document.numPages;
  const texts = await Promise.all(
    Array.from({ length: pages }, async (_, index) => (await document.getPage(index + 1)).getTextContent()),
  );
  const attachments = (await document.getAttachments()) as Record<string, { content: Uint8Array }> | null;
  const placed = texts
    .flatMap(({ items }) => items)
    .flatMap((item) => ('str' in item && item.str.trim() !== '' ? [item] : []));
  // The watermark is rotated and large, so it is excluded.
  const level = placed.filter(({ transform }) => transform[1] === 0);
  await document.destroy();
  return {
    pages,
    attachments: Object.entries(attachments ?? {}).map(([name, { content }]) => [name, Buffer.from(content)] as const),
    text: placed
      .map(({ str }) => str)
      .join(' ')
      .replace(/\s+/g, ' '),
    left: Math.min(...level.map(({ transform }) => transform[4])),
    right: Math.max(...level.map(({ transform, width }) => transform[4] + width)),
    bottom: Math.min(...level.map(({ transform }) => transform[5])),
    top: Math.max(...level.map(({ transform, height }) => transform[5] + height)),
  };
};

describe('certificatePdf', () => {
  it('shows request, answer and proof on one page', async () => {
    const source = input({
      input: 'pl 52 60 000 001',
      trader_match: { name: 'valid', street: null, postal_code: 'not_processed', city: null, company_type: null },
    });
    const { pages, text } = await readPdf(await draw(source));
    expect(pages).toBe(1);
    for (const part of [
      ...['PL5260000001 VALID', 'answered at the time below that the number was valid', 'pl 52 60 000 001'],
      ...[
        'Ελληνική Εταιρεία Α.Ε.',
        'ul. Łąkowa 7 00-950 Warszawa',
        'DE123456789',
        'WAPIAAAA1',
        'name: valid; postal code: not processed',
      ],
      ...['20 November 2024, 12:00:01.000 UTC', sampleId('check', 1), sampleId('request', 1)],
      ...['Format valid', 'VIES valid 1 20 Nov 2024, 12:00:01 UTC 80 ms'],
      `sha256:${Buffer.from(source.check.hash).toString('hex')}`,
      ...[
        '20 November 2026, 14:00:00.123 UTC by A true authority',
        'UTC by An anchoring authority',
        `${sampleId('anchor', 17)}, number 17`,
        'leaf 124 of 4567',
      ],
      ...['07'.repeat(32), 'check.json, check.tsr, proof.json, anchor.json, anchor.tsr', 'sh verify.sh'],
    ])
      expect(text).toContain(part);
    const unbroken = text.replaceAll(' ', '');
    expect(unbroken).toContain(`https://vat.example/v1/checks/${sampleId('check', 1)}/evidence`);
    expect(unbroken).toContain(publicUrl);
    expect(text).not.toMatch(/TEST|worth nothing|\(cut\)/);
  });

  it('shows grade, trader, match and what registers state', async () => {
    const { text, pages } = await readPdf(
      await draw(
        input({
          trader: { name: 'Acme Ltd', postal_code: '00950' },
          match: {
            ...{ score: 92, street: null, city: null },
            name: { score: 92, expected: 'Acme Ltd', found: 'ACMÉ SP. Z O.O.', source: 'pl_white_list' },
            postal_code: { score: 100, expected: '00950', found: '00-950', source: 'vies' },
          },
          evidence_grade: 'named',
          checks: [
            ...sampleBody(1).checks,
            {
              ...{ source: 'pl_white_list', outcome: 'found', started_at: at.toISOString(), duration_ms: 4 },
              contradicts: true,
              facts: {
                ...{ name: 'ACMÉ SP. Z O.O.', status: 'Zwolniony', registered_since: '2001-02-03' },
                ...{ vat_numbers: [], matches: { name: 'A', street: 'C', postal_code: 'C', city: 'D' } },
              },
            },
          ],
        }),
      ),
    );
    expect(pages).toBe(1);
    for (const part of [
      'Evidence grade named: VIES says valid, and a source states name and address; a source contradicts the verdict',
      'Trader as given name: Acme Ltd; postal code: 00950',
      'Match with the trader 92 of 100; name 92 (Wykaz podatników VAT (PL): ACMÉ SP. Z O.O.); postal code 100 (VIES: 00-950)',
      'What registers state Wykaz podatników VAT (PL): name: ACMÉ SP. Z O.O.; status: Zwolniony; registered since: 2001-02-03;',
      'VAT numbers: none; comparison: name agrees, street not requested, postal code not requested, city not given',
      'Wykaz podatników VAT (PL) found, contradicts',
    ])
      expect(text).toContain(part);
    const nothing = { score: null, name: null, street: null, postal_code: null, city: null };
    const other = await readPdf(await draw(input({ trader: { city: 'Wien' }, match: nothing })));
    expect(other.text).toContain('Match with the trader nothing to compare: no source states what was given');
    const earlier = await readPdf(await draw(input()));
    expect(earlier.text).not.toMatch(/Evidence grade|Trader as given|Match with|What registers/);
  });

  it('shows Polish, Greek, Bulgarian, Hungarian and French names as readable text that can be copied', async () => {
    const name = 'Żółć Gęślą Jaźń · Ψυχή Ώρα Α.Ε. · Щастие ЕООД · Őrült Űr Kft · L’Œuvre Façade Wolffisch';
    const { text } = await readPdf(await draw(input({ name })));
    expect(text).toContain(name);
  });

  it('is also made for invalid and malformed numbers', async () => {
    const nothing = { valid: false, name: null, address: null, consultation_number: null, requester_vat_number: null };
    const bare = { timestamp: null, anchor: null };
    const invalid = await readPdf(await draw(input({ ...nothing, verdict: 'invalid' }, bare)));
    expect(invalid.text).toMatch(/PL5260000001 INVALID .* number was not valid\./);
    expect(invalid.text).toMatch(
      /none: VIES gives one only to a requester.* none yet when this page was made Anchor not anchored yet/,
    );
    const syntax = sampleBody(1).checks.slice(0, 1);
    const malformed = await readPdf(await draw(input({ ...nothing, verdict: 'malformed', checks: syntax }, bare)));
    expect(malformed.text).toMatch(
      /MALFORMED .* VIES was not queried.* Consultation number none: VIES was not queried/,
    );
    const named = { ...nothing, requester_vat_number: 'DE123456789' };
    expect((await readPdf(await draw(input(named)))).text).toMatch(
      /Requester DE123456789 Consultation number none: VIES gave none with its answer, although a requester was named/,
    );
    const refused = await readPdf(await draw(input({ ...nothing, verdict: 'malformed' }, bare)));
    expect(refused.text).toMatch(/MALFORMED VIES rejected the number as malformed/);
  });

  it('marks a test check and a development time-stamp', async () => {
    const timestamp = { genTime: at, authority: 'Our development authority', development: true, token: token('check') };
    const { text } = await readPdf(await draw(input({ test: true }, { timestamp })));
    expect(text).toMatch(/^TEST .*TEST · VALID TEST: answered by the sandbox/);
    expect(text).toMatch(/Our development authority\. A development authority: worth nothing as evidence of time/);
    expect(text).not.toContain('European Commission');
    const { text: bareText } = await readPdf(await draw(input({ test: true }, { timestamp: null, anchor: null })));
    expect(bareText).toMatch(
      /Time-stamp \(RFC 3161\) never, because this is a test Anchor never, because this is a test/,
    );
  });

  it('says nothing about VIES and registers that a test check did not query', async () => {
    const check = { evidence_grade: 'basic', name: null, address: null } as const;
    const { text } = await readPdf(await draw(input({ ...check, test: true })));
    expect(text).toMatch(/Evidence grade basic (?!:)/);
    expect(text).not.toMatch(/VIES says|not disclosed/);
    const { text: real } = await readPdf(await draw(input(check)));
    expect(real).toMatch(
      /Evidence grade basic: VIES says valid; .* Name not disclosed by the member state Address not/,
    );
  });

  it('fits long and hostile texts on two pages', async () => {
    const sources = [
      'syntax',
      'vies',
      'vies_confirmation',
      'pl_white_list',
      'cz_ares',
      'ro_anaf',
      'fr_recherche_entreprises',
      'fi_prh',
      'de_evatr',
      'gleif',
    ] as const;
    const hostile = `\u202e${'W'.repeat(900)} 株式会社 😀 שלום ${'Ω'.repeat(5_000)}`;
    const changes: Partial<CheckBody> = {
      test: true,
      vat_number: `XI${'9'.repeat(12)}`,
      input: 'W'.repeat(40),
      name: hostile,
      address: `${'line\n'.repeat(80)}${hostile}`,
      reference: 'W'.repeat(64),
      consultation_number: 'W'.repeat(400),
      trader_match: {
        name: 'not_processed',
        street: 'not_processed',
        postal_code: 'not_processed',
        city: 'not_processed',
        company_type: 'not_processed',
      },
      trader: { name: hostile, street: hostile, postal_code: hostile, city: hostile, company_type: hostile },
      match: {
        score: 0,
        name: { score: 0, expected: hostile, found: hostile, source: 'vies' },
        street: { score: 0, expected: hostile, found: hostile, source: 'vies' },
        postal_code: { score: 0, expected: hostile, found: hostile, source: 'vies' },
        city: { score: 0, expected: hostile, found: hostile, source: 'vies' },
      },
      evidence_grade: 'named',
      checks: sources.map((source) => ({
        facts: { name: hostile, address: hostile, status: hostile },
        contradicts: true as const,
        source,
        outcome: 'unavailable',
        code: 'GLOBAL_MAX_CONCURRENT_REQ',
        attempts: 1_234,
        started_at: at.toISOString(),
        duration_ms: 123_456_789,
      })),
    };
    const timestamp = { genTime: at, authority: 'W'.repeat(500), development: true, token: token('check') };
    const service = `https://${'w'.repeat(300)}.example`;
    const bytes = await draw(input(changes, { timestamp, serviceUrl: service, publicUrl: `${service}/verify/x` }));
    expect(examinePdf(bytes).faults).toEqual([]);
    const page = await readPdf(bytes);
    expect(page.pages).toBe(2);
    expect(page.left).toBeGreaterThan(20);
    expect(page.right).toBeLessThan(575);
    expect(page.bottom).toBeGreaterThan(15);
    expect(page.top).toBeLessThan(825);
    expect(page.text).toContain('[U+202E]W');
    expect(page.text.match(/… \(cut\)/g)?.length).toBeGreaterThanOrEqual(4);
    // What must not be pushed off the page by all that.
    for (const part of [
      'How to verify',
      'Root of the anchor',
      'the record, not the page, is the evidence',
      '20 November 2024, 12:00:01.000 UTC',
    ])
      expect(page.text).toContain(part);
  });

  it.each(DOCUMENT_LANGUAGES)('shows everything whole, on one page, in %s', async (language) => {
    const source = input(
      {
        trader: { name: 'Acme Ltd', street: 'Lakowa 7', postal_code: '00950', city: 'Warszawa' },
        match: {
          score: 92,
          name: { score: 92, expected: 'Acme Ltd', found: 'ACMÉ SP. Z O.O.', source: 'pl_white_list' },
          ...{ street: null, postal_code: null, city: null },
        },
        trader_match: {
          name: 'valid',
          street: 'invalid',
          postal_code: 'not_processed',
          city: null,
          company_type: null,
        },
        evidence_grade: 'qualified',
      },
      { language },
    );
    const bytes = await draw(source);
    const { pages, text } = await readPdf(bytes);
    const texts = CERTIFICATE_TEXTS[language];
    expect(pages).toBe(1);
    for (const part of [
      ...[texts.title, texts.verdicts.valid, texts.grade, texts.consultationNumber, texts.viesWords.not_processed],
      ...[TERMS[language].grades.qualified.slice(0, 40), texts.footer.slice(0, 60), texts.scan],
      ...Object.values(texts.columns),
      // `openssl ts`, which the page names, fails with such signatures.
      'RSA-PSS',
      // The authority's certificate may have expired.
      `-attime ${Math.floor(at.getTime() / 1_000)}`,
    ])
      expect(text).toContain(part);
    // The address of the record needs a key.
    expect(text).toMatch(/\bAPI\b/);
    expect(text).not.toContain(TERMS[language].cut);
    expect(text).not.toContain('…');
    // DejaVu has no glyph for what is shown as a code point.
    expect(text).not.toContain('[U+');
    expect(examinePdf(bytes).faults).toEqual([]);
  });

  it.each(DOCUMENT_LANGUAGES)('has texts for every verdict and label that fit, in %s', async (language) => {
    const bare = { language, timestamp: null, anchor: null, publicUrl: null };
    const sources = ['syntax', 'vies', 'vies_confirmation'] as const;
    const checks = sources.map((source) => ({
      source,
      ...{ outcome: 'unavailable' as const, started_at: at.toISOString(), duration_ms: 80 },
    }));
    for (const [verdict, test] of [
      ['valid', { test: true }],
      ['invalid', {}],
      ['malformed', {}],
    ] as const) {
      const changes = { ...test, checks, verdict, valid: verdict === 'valid', consultation_number: null };
      const bytes = await draw(input({ ...changes, requester_vat_number: null }, bare));
      const { text } = await readPdf(bytes);
      expect(text).not.toContain(TERMS[language].cut);
      expect(text).toContain(CERTIFICATE_TEXTS[language].verdicts[verdict]);
      expect(examinePdf(bytes).faults).toEqual([]);
    }
  });

  it('calls a format correct in Polish, where the word for a valid number means active', async () => {
    const { text } = await readPdf(await draw(input({}, { language: 'pl' })));
    expect(text).toMatch(/Format poprawny .*VIES aktywny /);
  });

  it('says in Polish when the sources answered, and not that they did so within a time', async () => {
    const { text } = await readPdf(await draw(input({}, { language: 'pl' })));
    expect(text).toMatch(/ w chwili podanej niżej odpowiedział, że numer jest aktywny .* w podanej chwili, /);
    expect(Object.values(CERTIFICATE_TEXTS.pl.sentences).join()).not.toContain('czasie');
  });

  it('is PDF/A-3b, with the record and what proves it attached byte for byte', async () => {
    const source = input();
    const bytes = await draw(source);
    expect(examinePdf(bytes).faults).toEqual([]);
    const { attachments } = await readPdf(bytes);
    expect(Object.fromEntries(attachments)).toEqual({
      'check.json': Buffer.from(source.check.bytes),
      'check.tsr': token('check'),
      'proof.json': expect.any(Buffer),
      'anchor.json': anchor.body,
      'anchor.tsr': token('anchor'),
    });
    const [[, record] = []] = attachments.filter(([name]) => name === 'check.json');
    expect(
      createHash('sha256')
        .update(record ?? '')
        .digest(),
    ).toEqual(Buffer.from(source.check.hash));
    const [[, proof] = []] = attachments.filter(([name]) => name === 'proof.json');
    expect(JSON.parse(String(proof))).toEqual({
      ...{ anchor_id: sampleId('anchor', 17), leaf_index: 123, tree_size: 4567 },
      path: ['08'.repeat(32), '09'.repeat(32)],
    });
    const bare = await readPdf(await draw(input({}, { timestamp: null, anchor: null })));
    expect(bare.attachments.map(([name]) => name)).toEqual(['check.json']);
  });

  it('has a QR code of the public link, and none without a link', async () => {
    const [drawing = ''] = examinePdf(await draw(input())).drawings;
    expect(decodeQR(paintRectangles(drawing))).toBe(publicUrl);
    const bytes = await draw(input({}, { publicUrl: null }));
    const [without = ''] = examinePdf(bytes).drawings;
    expect(without.match(/ re\b/g)).toHaveLength(1);
    expect((await readPdf(bytes)).text).not.toContain('Verify online');
  });

  it('gives the same bytes for the same input', async () => {
    const [one, two] = [await draw(input()), await draw(input())];
    expect(Buffer.compare(one, two)).toBe(0);
    expect(Buffer.compare(one, await draw(input({ reference: 'other' })))).not.toBe(0);
    expect(Buffer.compare(one, await draw(input({}, { language: 'de' })))).not.toBe(0);
  });

  it('does not depend on the certificates before it, although they share fonts', async () => {
    const name = 'ﬁ ﬂ Ǆ';
    const shared = certificatePdf(openPageFonts());
    await shared(input({ name: 'fi fl DŽ ffi' }));
    expect(Buffer.compare(await shared(input({ name })), await certificatePdf(openPageFonts())(input({ name })))).toBe(
      0,
    );
  });
});
