import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { PROJECT_ROOT, provideAuditorTools, runProgram, startWorld, type World } from '@vat/testkit';
import { runCommand } from './command/run-command.js';
import { openTools } from './open-tools.fixture.js';
import { verifyCheck } from './verify-check.js';

/** The first test of a clone may have to fetch python3 and openssl. */
const WITH_TOOLS_MS = 90_000;

const PACKAGE = path.join(PROJECT_ROOT, 'packages/client');
/** Copies a zip file with a changed check. */
const CHANGE = `import sys, zipfile
source = zipfile.ZipFile(sys.argv[1])
changed = min(name for name in source.namelist() if name.startswith('checks/'))
with zipfile.ZipFile(sys.argv[2], 'w') as target:
    for name in source.namelist():
        bytes = source.read(name)
        target.writestr(name, bytes.replace(b'"valid":true', b'"valid":false') if name == changed else bytes)
`;
const VALID = 'DE136695976';
const INVALID = 'DE111111111';
const SLOW = 'DE123456788';

let world: World;
let folder: string;
/** The command as it is published: one file, in a folder from which no package of the project can be found. */
let program: string;

const bundle = async (): Promise<void> => {
  const { scripts } = JSON.parse(await readFile(path.join(PACKAGE, 'package.json'), 'utf8'));
  const [, ...args] = scripts.bundle.split(' ');
  const esbuild = path.join(PROJECT_ROOT, 'node_modules/esbuild/bin/esbuild');
  await promisify(execFile)(process.execPath, [esbuild, ...args, `--outfile=${program}`], { cwd: PACKAGE });
};

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'vat-command-'));
  program = path.join(folder, 'vat.mjs');
  [world] = await Promise.all([startWorld(), bundle()]);
  await Promise.all([
    world.vies.script(VALID, [{ kind: 'valid', name: 'Example Trading', address: 'Hauptstraße 1\n10115 Berlin' }]),
    world.vies.script(INVALID, ['invalid']),
  ]);
});
afterAll(async () => {
  await world?.stop();
  await rm(folder, { recursive: true, force: true });
});

const settings = (mode: 'live' | 'test' = 'live') => ({
  VAT_API_URL: world.baseUrl(),
  VAT_API_KEY: world.account[`${mode}_key`],
});
const vat = (...words: string[]) => runProgram(program, words, settings(), true);
const vatOfTestKey = (...words: string[]) => runProgram(program, words, settings('test'), true);
/** The same in this process, for speed. */
const run = async (words: string[], environment: Record<string, string> = {}) => {
  const [stdout, stderr]: [string[], string[]] = [[], []];
  const code = await runCommand(words, {
    env: { ...settings(), ...environment },
    print: (text) => stdout.push(text),
    note: (text) => stderr.push(text),
    signal: new AbortController().signal,
  });
  return { code, stdout: stdout.join('\n'), stderr: stderr.join('\n') };
};
const writeSample = async (name: string, text: string): Promise<string> => {
  const file = path.join(folder, name);
  await writeFile(file, text);
  return file;
};

describe('vat check', () => {
  it('prints the verdict with what proves it, and says by its exit code whether the number is valid', async () => {
    const [valid, invalid, malformed] = await Promise.all([
      vat('check', 'DE 136 695 976', '--name', 'Example Trading Ltd', '--reference', 'R 7'),
      vat('check', '111111111', '--country', 'DE'),
      vat('check', 'DE1'),
    ]);
    expect(valid).toEqual({
      ...{ code: 0, stderr: '' },
      stdout: expect.stringMatching(
        /^DE136695976 {2}valid\nname +Example Trading\naddress +Hauptstraße 1, 10115 Berlin\ngrade +named\nmatch +100\nchecked at .*\ncheck +chk_\w+\nhash +sha256:[0-9a-f]{64} \(verified\)\n$/,
      ),
    });
    expect(invalid).toMatchObject({ code: 1, stderr: '', stdout: expect.stringMatching(/^DE111111111 {2}invalid\n/) });
    expect(malformed).toMatchObject({ code: 1, stderr: '', stdout: expect.stringMatching(/^DE1 {2}malformed\n/) });
  });

  it('with --json prints the check as the service serves it', async () => {
    const { code, stdout } = await vatOfTestKey('check', 'PL102', '--json');
    const check = JSON.parse(stdout);
    expect([code, check.vat_number, check.evidence_grade]).toEqual([0, 'PL102', 'corroborated']);
    expect(verifyCheck(check)).toContain('"test":true');
    expect((await vatOfTestKey('check', check.id, '--json')).stdout).toBe(stdout);
  });

  it('without an answer in time ends with 3 and says how to see the outcome', async () => {
    await world.vies.script(SLOW, [{ kind: 'error', code: 'MS_MAX_CONCURRENT_REQ' }]);
    const pending = await vat('check', SLOW, '--wait', '0');
    const [, id] = /to see the outcome, run: vat check (req_\w+)\n$/.exec(pending.stderr) ?? [];
    expect([pending.code, pending.stdout, id]).toEqual([3, '', expect.stringMatching(/^req_/)]);
    const again = await vat('check', String(id), '--wait', '0', '--json');
    expect([again.code, JSON.parse(again.stdout)]).toMatchObject([
      3,
      { error: { code: 'PendingError', next: `vat check ${id}` } },
    ]);
    await world.vies.script(SLOW, ['valid']);
    expect(await vat('check', String(id))).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^DE123456788 {2}valid\n/),
    });
  });
});

describe('vat batch', () => {
  it('uploads a file, waits, shows the lines that need attention, and writes the results', async () => {
    const file = await writeSample('suppliers.csv', `vat_number;ref\n${VALID};A\n${INVALID};B\nDE1;C\n12345678;D\n`);
    const out = path.join(folder, 'results.csv');
    const { code, stdout, stderr } = await vat('batch', file, '--label', 'Q4', '--wait', '--out', out);
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^bat_\w+ {2}completed$/),
      '4 lines: 1 valid, 2 not valid, 1 failed, 0 open',
      expect.stringMatching(/^line 5 {2}12345678 {2}BAD_REQUEST: /),
      'line 3  DE111111111  invalid',
      'line 4  DE1  malformed',
      `results written to ${out}`,
      '',
    ]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/4 of 4 lines\n$/)]);
    expect(await readFile(out, 'utf8')).toMatch(
      /^vat_number,ref,vat_number,valid,.*\r\nDE136695976,A,DE136695976,true,valid,/,
    );
    const id = stdout.slice(0, stdout.indexOf(' '));
    const { body } = await world.http().get(`/v1/batches/${id}`).expect(200);
    expect([body.label, body.file_name]).toEqual(['Q4', 'suppliers.csv']);
    expect(JSON.parse((await vat('batch', id, '--json')).stdout)).toEqual(body);
  });
});

describe('vat coverage', () => {
  it('says which supplies were checked in time, and writes the report', async () => {
    expect((await vat('check', VALID)).code).toBe(0);
    const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    const file = await writeSample('supplies.csv', `vat_number,supply_date\n${VALID},${day(1)}\n${VALID},${day(-9)}\n`);
    const out = path.join(folder, 'report.pdf');
    const { code, stdout, stderr } = await vat('coverage', file, '--out', out);
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^cov_\w+ {2}1 of 2 supplies are covered$/),
      '1 missing, 0 invalid, 0 stale, 0 weak',
      `line 3  ${VALID}  ${day(-9)}  missing`,
      `results written to ${out}`,
      '',
    ]);
    expect([code, stderr, (await readFile(out, 'latin1')).slice(0, 5)]).toEqual([1, '', '%PDF-']);
    const covered = await vat(
      'coverage',
      await writeSample('one.csv', `vat_number,supply_date\n${VALID},${day(1)}\n`),
      '--json',
    );
    expect([covered.code, JSON.parse(covered.stdout)]).toMatchObject([0, { object: 'coverage', covered: 1, total: 1 }]);
  });
});

describe('vat verify', () => {
  it(
    'reports what verify.py reports, for a dossier that holds and for one that was changed',
    async () => {
      const runTool = await provideAuditorTools();
      const verifier = path.join(PROJECT_ROOT, 'packages/evidence/assets/verify.py');
      const original = path.join(PROJECT_ROOT, 'packages/evidence/fixtures/dossier-coverage.zip');
      const damaged = path.join(folder, 'changed.zip');
      expect(await runTool('python3', ['-c', CHANGE, original, damaged])).toEqual({ code: 0, output: '' });
      const other = await writeSample('other.zip', 'no zip file');
      const results = await Promise.all(
        [original, damaged, other].map(async (file) => {
          const [ours, theirs] = await Promise.all([
            vat('verify', file, '--json'),
            runTool('python3', ['-I', verifier, file, '--json']),
          ]);
          const shown = ({ output, code }: { output: string; code: number | null }) => {
            const { result, exit_code, problems } = JSON.parse(output);
            return { code, result, exit_code, problems: problems.map((problem: { code: string }) => problem.code) };
          };
          expect(shown({ output: ours.stdout, code: ours.code })).toEqual(shown(theirs));
          return ours.code;
        }),
      );
      expect(results).toEqual([0, 1, 2]);
      expect((await run(['verify', original])).stdout).toMatch(/^ok +[\s\S]*\nThe dossier holds\.$/);
      expect((await run(['verify', damaged])).stdout).toMatch(/\nWRONG {2}[\s\S]*\nThe dossier does not hold\.$/);
      expect(await run(['verify', folder])).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/is a folder.*verify\.py/),
      });
    },
    WITH_TOOLS_MS,
  );
});

describe('a command that cannot be done', () => {
  const missing = { VAT_API_URL: '', VAT_API_KEY: '' };
  it.each<[string, string[], Record<string, string>, RegExp]>([
    ['no address', ['check', 'DE100'], missing, /^vat: Set VAT_API_URL to the address of the service/],
    ['no key', ['check', 'DE100', '--api-url', 'http://127.0.0.1:1'], missing, /^vat: Set VAT_API_KEY/],
    ['no number', ['check'], {}, /^vat: NUMBER is missing\. Write: vat check NUMBER/],
    ['a surplus word', ['check', 'DE', '100'], {}, /^vat: Unexpected argument 100\. Write: vat check NUMBER/],
    ['an unknown option', ['check', 'DE100', '--fast'], {}, /^vat: Unknown option '--fast'.*Write: vat check NUMBER/],
    ['an unknown command', ['chekc'], {}, /^vat: There is no command chekc\. Write one of: check, batch/],
    ['a wait that is no number', ['check', 'DE100', '--wait', 'long'], {}, /--wait is a whole number/],
    [
      'a file that does not exist',
      ['batch', 'nothing.csv'],
      {},
      /^vat: nothing\.csv cannot be read: there is no such file/,
    ],
    ['results without --wait', ['batch', 'a.csv', '--out', 'b.csv'], {}, /^vat: --out needs --wait/],
    [
      'results of another format',
      ['coverage', 'a.csv', '--out', 'b.txt'],
      {},
      /^vat: --out ends with \.csv or \.xlsx or \.pdf/,
    ],
    ['an unknown grade', ['coverage', 'package.json', '--min-grade', 'best'], {}, /--min-grade is one of basic, named/],
    [
      'a revoked key',
      ['check', 'DE100', '--api-key', 'vat_test_nobody'],
      {},
      /\(UNAUTHORIZED\).* Set VAT_API_KEY to a key/,
    ],
    ['an unknown check', ['check', 'chk_0'], {}, /\(NOT_FOUND\) Check the id/],
  ])('%s: ends with 2 and says what to do', async (_, words, environment, why) => {
    expect(await run(words, environment)).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(why) });
  });

  it('names a file that is too large, which the service refuses while it is sent', async () => {
    const file = await writeSample('large.csv', `vat_number\n${`${VALID}\n`.repeat(300_000)}`);
    expect(await run(['batch', file])).toMatchObject({ code: 2, stderr: expect.stringMatching(/\(FILE_TOO_LARGE\)/) });
  });

  it('names a test key that may not do it, and prints errors as JSON for programs', async () => {
    const file = await writeSample('one-number.csv', `${VALID}\n`);
    const { code, stdout } = await run(['batch', file, '--json'], settings('test'));
    expect([code, JSON.parse(stdout)]).toEqual([
      2,
      { error: { code: 'TEST_KEY_NOT_ALLOWED', message: expect.stringMatching(/Use a live key/) } },
    ]);
  });

  it('explains itself', async () => {
    const [all, one] = [await run(['--help']), await run(['check', '--help'])];
    for (const name of ['check', 'batch', 'coverage', 'listen', 'verify', 'mcp'])
      expect(all).toMatchObject({ code: 0, stdout: expect.stringContaining(`vat ${name}`) });
    expect(one).toMatchObject({ code: 0, stdout: expect.stringMatching(/--requester NUMBER +your own VAT number/) });
  });
});

describe('vat mcp', () => {
  it('serves its tools to a program that begins with a handshake', async () => {
    const tools = openTools(program, settings('test'));
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    expect(await tools.request('initialize', params)).toMatchObject({
      ...{ protocolVersion: '2025-06-18', serverInfo: { name: 'vat' }, capabilities: { tools: {} } },
    });
    tools.send({ method: 'notifications/initialized' });
    const { tools: listed } = (await tools.request('tools/list')) as { tools: { name: string; inputSchema: object }[] };
    expect(listed.map(({ name }) => name).sort()).toEqual([
      ...['batch_status', 'check_vat_number', 'find_evidence', 'get_check', 'member_state_status'],
    ]);
    const checked = await tools.use('check_vat_number', { vat_number: 'PL102', reference: 'mcp' });
    expect(checked.result).toMatchObject({ object: 'check', valid: true, evidence_grade: 'corroborated' });
    expect((await tools.use('get_check', { id: checked.result.id })).result).toEqual(checked.result);
    expect((await tools.use('find_evidence', { vat_number: 'pl 102', reference: 'mcp' })).result).toMatchObject({
      checks: [{ id: checked.result.id, verdict: 'valid', hash_verified: true }],
      may_have_more: false,
    });
    const { member_states: states } = (await tools.use('member_state_status', { member_state: 'pl' })).result;
    expect(states).toMatchObject([{ member_state: 'PL', health: expect.any(String) }]);
    expect(await tools.use('batch_status', {})).toMatchObject({
      isError: true,
      text: expect.stringMatching(/Use a live key/),
    });
    expect(await tools.use('check_vat_number', {})).toMatchObject({
      isError: true,
      text: expect.stringMatching(/vat_number/),
    });
    expect(await tools.close()).toEqual({ code: 0, errors: '' });
  });

  it('serves a program without a handshake, and reports batches', async () => {
    const { body } = await world
      .http()
      .post('/v1/batches')
      .set('Content-Type', 'text/csv')
      .send('vat_number\n12345678\n')
      .expect(201);
    const tools = openTools(program, settings());
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    expect(await tools.request('server/discover', { _meta })).toMatchObject({ capabilities: { tools: {} } });
    const call = { name: 'batch_status', arguments: { batch_id: body.batch_id }, _meta };
    expect(await tools.request('tools/call', call)).toMatchObject({
      structuredContent: {
        batch: { batch_id: body.batch_id, total: 1 },
        failed_lines: [{ error: { code: 'BAD_REQUEST' } }],
      },
    });
    expect(await tools.close()).toEqual({ code: 0, errors: '' });
  });
});
