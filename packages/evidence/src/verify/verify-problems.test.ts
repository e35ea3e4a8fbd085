import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { sampleId } from '../dossier/sample-source.fixture.js';
import { makeDatedAuthority } from '../timestamp/dated-authority.fixture.js';
import type { DossierProblem, DossierReport } from '../verify-dossier/dossier-report.js';
import { ADVICE, PROBLEM_KINDS } from '../verify-dossier/problem-kinds.js';
import { verifyDossier } from '../verify-dossier/verify-dossier.js';
import { auditorOfTests } from './open-auditor.fixture.js';
import type { Tampered } from './tampered.fixture.js';

const VERIFIER = fileURLToPath(new URL('../../assets/verify.py', import.meta.url));
const DOCUMENT = fileURLToPath(new URL('../../../../docs/evidence.md', import.meta.url));
const CHECKS = Array.from({ length: 7 }, (_, number) => sampleId('check', number));
const [ZERO = '', ONE = '', TWO = '', THREE = '', FOUR = '', FIVE = '', SIX = ''] = CHECKS;
const STRANGE = sampleId('check', 777);
const REQUEST = sampleId('request', 999);
/** Sentences that end with the reason that a library gives. */
const WITH_REASON = ['stamp_wrong', 'stamp_unreadable', 'file_damaged', 'unreadable'];

const auditor = auditorOfTests();

const seen = new Map<string, DossierProblem>();
const keyOf = ({ code, message, file, check_id }: DossierProblem) =>
  `${code} ${file} ${check_id} ${WITH_REASON.includes(code) ? '' : message}`;

/** The kinds of problems of a report; fails if the verifier in the browser finds others in the same dossier. */
const findInBoth = async (python: DossierReport & { exit_code: number }, zip: Blob): Promise<string[]> => {
  const browser = await verifyDossier(zip);
  expect(python).toMatchObject({
    format: 'vat-evidence-verification',
    version: 1,
    result: 'does_not_hold',
    exit_code: 1,
  });
  expect(browser.result).toBe('does_not_hold');
  expect(browser.problems.map(keyOf).sort()).toEqual(python.problems.map(keyOf).sort());
  expect(browser.problem_count).toBe(python.problem_count);
  for (const one of python.problems) seen.set(one.code, one);
  return [...new Set(python.problems.map(({ code }) => code))];
};

/** The problems that both verifiers find in a copy. */
const findProblems = async (copy: Tampered): Promise<string[]> => findInBoth(await copy.report(), await copy.zip());

/** The problems that both verifiers find in a zip file, sorted. */
const findInZip = async (bytes: Buffer<ArrayBuffer>): Promise<string[]> => {
  const file = path.join(await auditor.makeFolder(), 'dossier.zip');
  await writeFile(file, bytes);
  const { output } = await auditor.run('python3', ['-I', VERIFIER, file, '--json']);
  return (await findInBoth(JSON.parse(output), new Blob([bytes]))).sort();
};

const COMPRESS = `
import os, sys, zipfile
folder = sys.argv[2]
with zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED) as made:
    for inside, _, names in os.walk(folder):
        for path in (os.path.join(inside, name) for name in names):
            made.write(path, os.path.join('dossier', os.path.relpath(path, folder)))
`;
/** A zip file as other programs make it: compressed, with a folder around the dossier. */
const compress = async (folder: string): Promise<Buffer<ArrayBuffer>> => {
  const file = path.join(await auditor.makeFolder(), 'compressed.zip');
  await auditor.run('python3', ['-I', '-c', COMPRESS, file, folder]);
  return readFile(file);
};

const stampAgain = async (copy: Tampered, file: string, token: string) =>
  copy.write(token, await auditor.authority.stamp(Buffer.from(await copy.read(file))));
const editJson = async (copy: Tampered, file: string, changes: object) =>
  copy.write(file, JSON.stringify({ ...JSON.parse(await copy.read(file)), ...changes }));
const emptyHash = createHash('sha256').digest('hex');

describe('both verifiers explain', () => {
  it('files that were changed, added, removed or named in a wrong way', async () => {
    const copy = await auditor.tamper();
    await copy.write('README.txt', 'changed');
    await copy.write('notes.txt', 'added');
    await copy.remove('summary.pdf');
    await copy.write('SHA256SUMS', `${await copy.read('SHA256SUMS')}not a line\n`);
    const expected = ['file_added', 'file_changed', 'file_missing', 'stamp_of_other', 'sums_line'];
    expect((await findProblems(copy)).sort()).toEqual(expected);
  });

  it('changed bytes of a zip file, whose own checksums are ignored', async () => {
    const copy = await auditor.tamper();
    const bytes = Buffer.from(await (await copy.zip()).arrayBuffer());
    const check = await readFile(path.join(copy.folder, `checks/${TWO}.json`));
    bytes.write('B', bytes.indexOf(check) + check.indexOf('AAAA2'));
    expect(await findInZip(bytes)).toEqual(['check_cell', 'check_hash', 'file_changed', 'proof_wrong']);

    const compressed = await compress(copy.folder);
    const header = compressed.indexOf(`dossier/checks/${TWO}.json`) - 30;
    const sizes = [26, 28].map((at) => compressed.readUInt16LE(header + at));
    // A block of a type that does not exist.
    compressed[sizes.reduce((sum, size) => sum + size, header + 30)] = 0x07;
    const without = ['check_missing', 'count_differs', 'exchange_unclaimed', 'file_damaged', 'file_missing'];
    expect(await findInZip(compressed)).toEqual([...without, 'proof_unclaimed']);
  });

  it('records that contradict each other', async () => {
    const copy = await auditor.tamper();
    await copy.replace(`checks/${THREE}.json`, '{', '{ ');
    await rename(path.join(copy.folder, `checks/${FIVE}.json`), path.join(copy.folder, `checks/${STRANGE}.json`));
    const lines = (await copy.read('checks.csv')).split('\r\n');
    const row = (id: string) => lines.find((line) => line.startsWith(id)) ?? '';
    const missing = row(ZERO).replace(ZERO, sampleId('check', 888));
    const table = [...lines.filter((line) => !line.startsWith(FOUR) && line !== ''), missing, row(ZERO), ''];
    await copy.write('checks.csv', table.join('\r\n'));
    await copy.replace('checks.csv', 'PL5260000006', 'PL5260000009');
    const exchange = (id: string) => `exchanges/${id}/01-vies`;
    await copy.write(`${exchange(ZERO)}.request`, 'changed');
    const { request } = JSON.parse(await copy.read(`${exchange(TWO)}.json`));
    await editJson(copy, `${exchange(TWO)}.json`, { request: { ...request, file: 'another' } });
    const none = { ...request, file: null, size: 0, sha256: emptyHash };
    await editJson(copy, `${exchange(THREE)}.json`, { request: none });
    await copy.remove(`${exchange(SIX)}.json`);
    await mkdir(path.join(copy.folder, `exchanges/${sampleId('check', 888)}`));
    await copy.write(
      `exchanges/${sampleId('check', 888)}/01-vies.json`,
      JSON.stringify({ request: none, response: null }),
    );
    await editJson(copy, `requests/${REQUEST}/request.json`, { id: 'another' });
    await copy.replace('requests.csv', /\r\n[^\r]+\r\n$/, '\r\n');
    await copy.remove(`timestamps/${ONE}.tsr`);
    await copy.reseal(auditor.authority);
    expect((await findProblems(copy)).sort()).toEqual(
      [
        ...['check_cell', 'check_form', 'check_hash', 'check_missing', 'check_renamed', 'check_repeated'],
        ...['check_unlisted', 'body_differs', 'body_renamed', 'body_unclaimed', 'body_unexpected'],
        ...[
          'exchange_unclaimed',
          'request_renamed',
          'requests_differ',
          'count_differs',
          'stamp_listed',
          'proof_anchor',
          'proof_wrong',
        ],
      ].sort(),
    );
  });

  it('proofs and supplies that the checks do not support', async () => {
    const copy = await auditor.tamper();
    const [zero = '', one = '', two = '', ...rest] = (await copy.read('proofs.jsonl')).split('\n');
    const strange = JSON.stringify({ ...JSON.parse(two), id: STRANGE, leaf_index: 9 });
    await copy.write('proofs.jsonl', [zero, zero, two, strange, ...rest].join('\n'));
    expect(one).toContain(ONE);
    await copy.replace('checks.csv', /,1,(?=qualified|\r\n)/, ',2,');
    await copy.replace('coverage/results.csv', ',5,', ',4,');
    await copy.replace('coverage/results.csv', '2024-11-25', '2024-11-19');
    await copy.reseal(auditor.authority);
    expect((await findProblems(copy)).sort()).toEqual([
      ...['coverage_cell', 'coverage_unproved', 'proof_anchor', 'proof_missing', 'proof_repeated', 'proof_unclaimed'],
    ]);
  });

  it('anchors that are not one chain, and times that cannot be', async () => {
    const copy = await auditor.tamper();
    await copy.replace('anchors/1.json', /"prev_anchor_hash":"0000/, '"prev_anchor_hash":"1111');
    await copy.replace('anchors/2.json', '"v":1', '"v":2');
    await copy.replace('anchors/2.json', /"closed_at":"2024/, '"closed_at":"2023');
    await stampAgain(copy, 'anchors/2.json', 'anchors/2.tsr');
    await copy.write('anchors/4.json', await copy.read('anchors/2.json'));
    await copy.write(`timestamps/${STRANGE}.tsr`, 'of nothing');
    await copy.write(`timestamps/${ZERO}.tsr`, 'short');
    const stranger = auditor.makeAuthority('Stranger');
    const check = await readFile(path.join(copy.folder, `checks/${ONE}.json`));
    await copy.write(`timestamps/${ONE}.tsr`, await stranger.stamp(check));
    await copy.replace('manifest.json', /"created_at": "2024/, '"created_at": "2998');
    await copy.reseal(auditor.authority);
    expect((await findProblems(copy)).sort()).toEqual(
      [
        ...['anchor_first', 'anchor_form', 'anchor_early', 'anchor_renamed', 'chain_broken', 'count_differs'],
        ...['stamp_of_nothing', 'stamp_listed', 'stamp_of_other', 'stamp_unreadable', 'stamp_wrong'],
        ...['stamped_early', 'anchored_early'],
      ].sort(),
    );
  });

  it('a time-stamp whose certificate expired before a later anchor was stamped', async () => {
    const copy = await auditor.tamper();
    const [from, to] = [new Date('2024-01-01T00:00:00.000Z'), new Date('2024-12-31T00:00:00.000Z')];
    const brief = makeDatedAuthority('Brief', { from, to });
    const anchor = Buffer.from(await copy.read('anchors/1.json'));
    await copy.write('anchors/1.tsr', brief.stamp(anchor, new Date('2024-12-01T00:00:00.000Z')));
    await copy.write('certs/tsa-roots.pem', `${await copy.read('certs/tsa-roots.pem')}${brief.root}`);
    await copy.reseal(auditor.authority);
    expect(await findProblems(copy)).toEqual(['stamp_expired']);
  });

  it('a dossier without its time-stamp, its roots, its manifest or a readable table, and one of a later release', async () => {
    const later = await auditor.tamper();
    await later.replace('manifest.json', '"version": 1', '"version": 2');
    await later.replace('coverage/results.csv', 'age_days', 'age');
    await later.reseal(auditor.authority);
    expect(await findProblems(later)).toEqual(['format_unknown', 'coverage_columns']);
    await later.remove('SHA256SUMS.tsr');
    await later.reseal();
    expect(await findProblems(later)).toEqual(['format_unknown', 'coverage_columns', 'seal_missing']);
    await later.write('certs/tsa-roots.pem', '');
    await later.reseal();
    expect(await findProblems(later)).toEqual(['format_unknown', 'coverage_columns', 'roots_missing']);
    await later.write('manifest.json', '[');
    await later.reseal();
    expect(await findProblems(later)).toEqual(['unreadable']);
    await later.remove('manifest.json');
    await later.reseal();
    expect(await findProblems(later)).toEqual(['rest_missing']);
  });

  it('files that cannot be read, and what readers could understand differently', async () => {
    const body = `exchanges/${ZERO}/01-vies`;
    const copy = await auditor.tamper();
    await copy.remove(`${body}.request`);
    await copy.remove(`${body}.response`);
    expect(await findProblems(copy)).toEqual(['file_missing', 'rest_missing']);
    const edits: [file: string, edit: (text: string) => string | Uint8Array, expected: string[]][] = [
      ['checks.csv', (text) => Buffer.concat([Buffer.from(text), Buffer.of(0xff)]), ['file_changed', 'unreadable']],
      ['checks.csv', (text) => text.replace('response_hash', 'response'), ['file_changed', 'unreadable']],
      ['checks.csv', (text) => `${text}\r\n`, ['file_changed']],
      ['manifest.json', (text) => text.replace('{', '{"version": 1,'), ['file_changed', 'unreadable']],
      [`checks/${TWO}.json`, (text) => text.replace('{', '{"valid":true,'), ['file_changed', 'unreadable']],
      [`checks/${TWO}.json`, (text) => text.replace('{', '{"value":NaN,'), ['file_changed', 'unreadable']],
      [`checks/${TWO}.json`, (text) => text.replace(':80,', ':80.0,'), ['file_changed', 'unreadable']],
      [`checks/${TWO}.json`, (text) => text.replace(':80,', ':12345678901234567890,'), ['file_changed', 'unreadable']],
      [
        `checks/${TWO}.json`,
        (text) => text.replace('T12:00:02.000Z', 'T24:00:00.000Z'),
        ['file_changed', 'unreadable'],
      ],
      ['manifest.json', (text) => text.replace('2024-11-20T', '2024-02-30T'), ['file_changed', 'unreadable']],
      ['manifest.json', (text) => text.replace('2024-11-20T', '٢٠٢٤-11-20T'), ['file_changed', 'unreadable']],
      ['proofs.jsonl', (text) => text.replace('"leaf_index":0', '"leaf_index":"0"'), ['file_changed', 'unreadable']],
      ['proofs.jsonl', (text) => text.replace(/"path":\["../, '"path":["AB'), ['file_changed', 'unreadable']],
      [
        'anchors/1.json',
        (text) => text.replace('"v":1', '"v":true'),
        ['file_changed', 'anchor_form', 'chain_broken', 'stamp_of_other'],
      ],
      ['checks.csv', (text) => text.replace(',verdict,', ',valid,'), ['file_changed', 'unreadable']],
      ['watch-changes.csv', (text) => text.replace('-supplier', 'sup"plier'), ['file_changed']],
      ['coverage/results.csv', (text) => text.replace(',missing,', ',missing,,'), ['file_changed', 'unreadable']],
      ['proofs.jsonl', (text) => text.replace('\n', '\n\n'), ['file_changed']],
      ['SHA256SUMS', (text) => text.replace('\n', '\n\n'), ['stamp_of_other']],
    ];
    for (const [file, edit, expected] of edits) {
      const edited = await auditor.tamper();
      await edited.write(file, edit(await edited.read(file)));
      expect([file, await findProblems(edited)]).toEqual([file, expected]);
    }
  });

  it('entries of a zip file that are irregular, repeated or damaged', async () => {
    const copy = await auditor.tamper();
    const zip = await copy.zip([
      { path: '../outside', bytes: Buffer.from('x') },
      { path: 'README.txt', bytes: Buffer.from('x') },
    ]);
    const bytes = Buffer.from(await zip.arrayBuffer());
    // The first occurrence that a header precedes; README.txt contains the name too.
    let name = bytes.indexOf('manifest.json');
    while (bytes.toString('latin1', name - 30, name - 28) !== 'PK') name = bytes.indexOf('manifest.json', name + 1);
    bytes[name - 30] = 0;
    const expected = ['file_damaged', 'file_missing', 'file_repeated', 'irregular_file', 'rest_missing'];
    expect(await findInZip(bytes)).toEqual(expected);
  });

  it('every kind of problem, in the same words, with what it means and what to do', async () => {
    // The tests above have found one of each.
    expect([...seen.keys()].sort()).toEqual(Object.keys(PROBLEM_KINDS).sort());
    expect(seen.get('check_cell')).toEqual({
      code: 'check_cell',
      message: `checks.csv differs from checks/${SIX}.json in vat_number (VAT number PL5260000009)`,
      ...ADVICE.record,
      file: `checks/${SIX}.json`,
      check_id: SIX,
      vat_number: 'PL5260000009',
    });
    expect(seen.get('coverage_unproved')?.message).toBe(
      `row 1 of coverage/results.csv is called covered, but the check ${ONE} was made after the supply (VAT number PL5260000001)`,
    );
    const print =
      'import json, runpy, sys; m = runpy.run_path(sys.argv[1]); print(json.dumps([m["ADVICE"], m["KINDS"]]))';
    const { output } = await auditor.run('python3', ['-I', '-c', print, VERIFIER]);
    const [advice, kinds] = JSON.parse(output);
    const pairs = Object.entries(ADVICE).map(([name, { meaning, action }]) => [name, [meaning, action]]);
    expect([advice, kinds]).toEqual([Object.fromEntries(pairs), PROBLEM_KINDS]);
    const document = await readFile(DOCUMENT, 'utf8');
    expect(Object.keys(PROBLEM_KINDS).filter((code) => !document.includes(`\`${code}\``))).toEqual([]);
  });
});

describe('verify.py', () => {
  it('prints the advice of each kind once, below the first problem of that kind', async () => {
    const copy = await auditor.tamper();
    await copy.write('README.txt', 'changed');
    await copy.write(`checks/${ZERO}.json`, '{}');
    const { output } = await copy.verify();
    expect(output.split(ADVICE.copy.meaning)).toHaveLength(2);
    expect(output).toContain(
      `WRONG checks/${ZERO}.json was changed: its SHA-256 is not the one in SHA256SUMS (VAT number PL5260000000)`,
    );
  });

  it('reads a zip file, also one with a folder around the dossier, and says why another file is none', async () => {
    const copy = await auditor.tamper();
    const file = path.join(await auditor.makeFolder(), 'dossier.zip');
    const run = async (bytes: Uint8Array | Blob, ...more: string[]) => {
      await writeFile(file, bytes instanceof Blob ? Buffer.from(await bytes.arrayBuffer()) : bytes);
      return auditor.run('python3', ['-I', VERIFIER, file, ...more]);
    };
    const zip = await copy.zip();
    const holds = await run(zip, '--json');
    expect(JSON.parse(holds.output)).toMatchObject({
      result: 'holds',
      exit_code: 0,
      reason: null,
      problems: [],
      counts: { checks: 7, supplies: 2 },
    });
    const inFolder = await compress(copy.folder);
    await writeFile(file, inFolder);
    expect(await run(inFolder)).toEqual({ code: 0, output: expect.stringMatching(/\nALL HOLDS\.\n$/) });
    expect(await verifyDossier(new Blob([inFolder]))).toMatchObject({ result: 'holds', counts: { checks: 7 } });

    const whole = Buffer.from(await zip.arrayBuffer());
    const half = whole.subarray(0, whole.length >> 1);
    const incomplete = {
      result: 'not_checked',
      reason: { code: 'not_a_zip', message: expect.stringContaining('download') },
    };
    const broken = await run(half, '--json');
    expect([broken.code, JSON.parse(broken.output)]).toMatchObject([2, { ...incomplete, exit_code: 2 }]);
    expect(await verifyDossier(new Blob([half]))).toMatchObject(incomplete);
    await auditor.run('python3', [
      '-I',
      '-c',
      'import sys, zipfile\nwith zipfile.ZipFile(sys.argv[1], "w") as z: z.writestr("x", "y")',
      file,
    ]);
    const other = await readFile(file);
    const strange = { result: 'not_checked', reason: { code: 'not_a_dossier' } };
    expect(JSON.parse((await run(other, '--json')).output)).toMatchObject(strange);
    expect(await verifyDossier(new Blob([other]))).toMatchObject(strange);
    const bomb = Buffer.from(other);
    // Compressed, and of nearly 4 GiB, by the header before the file and by the directory.
    for (const at of [8, bomb.indexOf('PK\x01\x02') + 10]) {
      bomb.writeUInt16LE(8, at);
      bomb.writeUInt32LE(0xffff_fff0, at + 14);
    }
    expect(await verifyDossier(new Blob([bomb]))).toMatchObject({
      result: 'not_checked',
      reason: { code: 'too_large' },
    });
  });
});
