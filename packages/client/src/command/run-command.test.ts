import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { runHere } from './run-here.fixture.js';

const ENV = { VAT_API_URL: 'http://127.0.0.1:9', VAT_API_KEY: 'vat_test_key' };

// Nothing is sent: each is refused before.
test.each<[string, string[], RegExp, Record<string, string>?]>([
  ['no address', ['check', 'DE100'], /^vat: Set VAT_API_URL to the address of the service/, {}],
  ['no key', ['check', 'DE100', '--api-url', 'http://127.0.0.1:9'], /^vat: Set VAT_API_KEY/, {}],
  ['no number', ['check'], /^vat: NUMBER is missing\. Write: vat check NUMBER/],
  ['a surplus word', ['check', 'DE', '100'], /^vat: Unexpected argument 100\. Write: vat check NUMBER/],
  ['an unknown option', ['check', 'DE100', '--fast'], /^vat: Unknown option '--fast'.*Write: vat check NUMBER/],
  ['an unknown command', ['chekc'], /^vat: There is no command chekc\. Write one of: check, batch/],
  ['a wait that is no number', ['check', 'DE100', '--wait', 'long'], /--wait is a whole number/],
  ['a missing file', ['batch', 'none.csv'], /^vat: none\.csv cannot be read: there is no such file/],
  ['a folder', ['batch', '.'], /^vat: \. cannot be read: it is a folder\.$/],
  ['results without --wait', ['batch', 'a.csv', '--out', 'b.csv'], /^vat: --out needs --wait/],
  ['a time-out without --wait', ['batch', 'a.csv', '--timeout', '9'], /^vat: --timeout needs --wait\.$/],
  [
    'a time-out that is no number',
    ['batch', 'package.json', '--wait', '--timeout', 'long'],
    /--timeout is a whole number/,
  ],
  ['a file of the form of an id', ['batch', 'bat_2026.csv'], /^vat: bat_2026\.csv cannot be read/],
  ['results in no folder', ['batch', 'a.csv', '--wait', '--out', 'none/b.csv'], /^vat: none\/b\.csv cannot be written/],
  ['results of another format', ['coverage', 'a.csv', '--out', 'b.txt'], /--out ends with \.csv or \.xlsx or \.pdf/],
  ['an unknown grade', ['coverage', 'package.json', '--min-grade', 'best'], /--min-grade is one of basic, named/],
  ['a missing dossier', ['verify', 'none.zip'], /^vat: none\.zip cannot be read: there is no such file/],
  ['an unpacked dossier', ['verify', 'packages'], /^vat: packages is a folder\. .*python3 -I packages\/verify\.py$/],
])('%s: ends with 2 and says what to do', async (_, words, why, env = ENV) => {
  expect(await runHere(words, env)).toEqual({ code: 2, stdout: [], stderr: [expect.stringMatching(why)] });
});

test('the command that it names for an unpacked dossier is one for a shell, whatever the path', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "Müller's dossier "));
  try {
    const { stderr } = await runHere(['verify', folder]);
    const [, words = ''] = /run: python3 -I (.*)$/.exec(stderr.join('')) ?? [];
    const { stdout } = await promisify(execFile)('sh', ['-c', `printf %s ${words}`]);
    expect(stdout).toBe(`${folder}/verify.py`);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('with --json an error is JSON too', async () => {
  const { code, stdout, stderr } = await runHere(['check', '--json']);
  expect([code, stderr, stdout.map((line) => JSON.parse(line))]).toEqual([
    ...[2, [], [{ error: { code: 'USAGE', message: expect.stringMatching(/^NUMBER is missing/) } }]],
  ]);
});

test('it explains itself', async () => {
  const [all, one] = [await runHere(['--help']), await runHere(['check', '--help'])];
  expect([all.code, one.code, (await runHere([])).code]).toEqual([0, 0, 2]);
  for (const name of ['check', 'batch', 'coverage', 'listen', 'verify', 'mcp'])
    expect(all.stdout.join('\n')).toContain(`  vat ${name}`);
  expect(one.stdout.join('\n')).toMatch(/--requester NUMBER +your own VAT number/);
});
