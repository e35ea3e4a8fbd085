import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { PROJECT_ROOT, runProgram, startWorld, until, type World } from '@vat/testkit';
import { runHere } from './command/run-here.fixture.js';
import { openTools } from './open-tools.fixture.js';
import { openScriptedService } from './scripted-service.fixture.js';
import { verifyCheck } from './verify-check.js';

const PACKAGE = path.join(PROJECT_ROOT, 'packages/client');
const VALID = 'DE136695976';
const INVALID = 'DE111111111';
const SLOW = 'DE123456788';
/** Nothing, or that the answer was 202, as on a machine that is busy for longer than the upstream window. */
const WAITED = /^(req_\w+ {2}waiting\n)?$/;

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
      ...{ code: 0, stderr: expect.stringMatching(WAITED) },
      stdout: expect.stringMatching(
        /^DE136695976 {2}valid\nname +Example Trading\naddress +Hauptstraße 1, 10115 Berlin\ngrade +named\nmatch +100\nchecked at .*\ncheck +chk_\w+\nhash +sha256:[0-9a-f]{64} \(verified\)\n$/,
      ),
    });
    expect(invalid).toMatchObject({
      ...{ code: 1, stderr: expect.stringMatching(WAITED) },
      stdout: expect.stringMatching(/^DE111111111 {2}invalid\n/),
    });
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

describe('a command', () => {
  it('that waits ends by Ctrl-C as a shell expects, and says how to see the outcome', async () => {
    const child = spawn(process.execPath, [program, 'check', 'DE600'], { env: settings('test') });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const closed = once(child, 'close');
    await until('the 202', () => (stderr.includes('waiting') ? true : null));
    child.kill('SIGINT');
    expect(await closed).toEqual([null, 'SIGINT']);
    expect(stderr).toMatch(
      /^(req_\w+) {2}waiting\nvat: [^\n]* has no answer yet\.[^\n]*\nvat: [^\n]*: vat check \1\n$/,
    );
  });

  it('whose messages are not read ends with the same exit code', async () => {
    const child = spawn(process.execPath, [program, 'check', 'chk_0'], { env: settings('test') });
    child.stderr.destroy();
    expect(await once(child, 'close')).toEqual([2, null]);
  });

  it('whose output cannot be written fails', async () => {
    const unwritable = await open(program, 'r');
    const stdio = ['ignore', unwritable.fd, 'pipe'] as const;
    const child = spawn(process.execPath, [program, 'check', 'DE100'], { env: settings('test'), stdio: [...stdio] });
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    expect([await once(child, 'close'), stderr]).toEqual([
      [2, null],
      expect.stringMatching(/^vat: The output could not be written: /),
    ]);
    await unwritable.close();
  });

  it('that follows events names none to continue after that it could not write', async () => {
    const service = await openScriptedService();
    const unwritable = await open(program, 'r');
    const event = { event_id: 'evt_1', body: { event: 'webhook.test' } };
    service.script({ body: { data: [event], last_event_id: 'evt_1' } }, 'wait');
    const env = { VAT_API_URL: service.baseUrl, VAT_API_KEY: 'vat_test_key' };
    const child = spawn(process.execPath, [program, 'listen', '--after', 'start', '--json'], {
      ...{ env, stdio: ['ignore', unwritable.fd, 'pipe'] },
    });
    let stderr = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    expect([await once(child, 'close'), stderr]).toEqual([
      [2, null],
      expect.stringMatching(/\nvat: The output could not be written: [^\n]*\ncontinue with --after start\n$/),
    ]);
    await Promise.all([unwritable.close(), service.close()]);
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

  it('does not wait for a batch that is completed', async () => {
    const service = await openScriptedService();
    const counts = { total: 1, done: 1, valid: 1, invalid: 0, failed: 0 };
    service.script({ body: { batch_id: 'bat_1', status: 'completed', eta: null, ...counts } });
    const env = { VAT_API_URL: service.baseUrl, VAT_API_KEY: 'vat_test_key' };
    expect(await runHere(['batch', 'bat_1', '--wait', '--timeout', '0'], env)).toMatchObject({ code: 0, stderr: [] });
    expect(service.calls).toHaveLength(1);
    await service.close();
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
      expect.stringMatching(/^cov_\w+ {2}1 of 2 supplies is covered$/),
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

describe('vat listen', () => {
  it('prints the events that the service lists', async () => {
    const file = await writeSample('event.csv', `vat_number\n${VALID}\n`);
    const { body: before } = await world.http().get('/v1/events?limit=1').expect(200);
    const after = before.data[0]?.event_id ?? 'start';
    const words = ['listen', '--after', after, '--type', 'batch.completed', '--json'];
    const listening = runHere(words, settings(), (line) => line.startsWith('{'));
    const batch = JSON.parse((await runHere(['batch', file, '--json'], settings())).stdout.join(''));
    const { code, stdout, stderr } = await listening;
    const event = JSON.parse(stdout.join(''));
    expect(event).toMatchObject({ type: 'batch.completed', body: { batch_id: batch.batch_id, total: 1, done: 1 } });
    expect((await world.http().get(`/v1/events/${event.event_id}`).expect(200)).body).toEqual(event);
    expect([code, stderr.at(-1)]).toEqual([0, `continue with --after ${event.event_id}`]);
  });
});

describe('vat verify', () => {
  it('verifies a dossier', async () => {
    const { code, stdout } = await vat(
      'verify',
      path.join(PROJECT_ROOT, 'packages/evidence/fixtures/dossier-coverage.zip'),
    );
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^ok +[\s\S]*\nThe dossier holds\.\n$/)]);
  });
});

describe('a refusal of the service ends the command with 2, and the message says what to do:', () => {
  it.each<[string, string[], RegExp]>([
    ['a revoked key', ['DE100', '--api-key', 'vat_test_nobody'], /\(UNAUTHORIZED\).* Set VAT_API_KEY to a key/],
    ['an unknown check', ['chk_0'], /\(NOT_FOUND\) Check the id/],
    [
      'a number without a country',
      ['12345678'],
      /^vat: The number does not begin with .+ send country_code\. \(BAD_REQUEST\)$/,
    ],
    ['an invalid requester', ['DE100', '--requester', 'DE1'], /\(INVALID_REQUESTER\)/],
  ])('%s', async (_, words, why) => {
    const ended = await runHere(['check', ...words], settings());
    expect(ended).toEqual({ code: 2, stdout: [], stderr: [expect.stringMatching(why)] });
  });

  it('a file that is too large, which the service refuses while it is sent', async () => {
    const file = await writeSample('large.csv', `vat_number\n${`${VALID}\n`.repeat(300_000)}`);
    const { code, stderr } = await runHere(['batch', file], settings());
    expect([code, stderr]).toEqual([2, [expect.stringMatching(/\(FILE_TOO_LARGE\)/)]]);
  });

  it('a test key that may not do it, as JSON for programs', async () => {
    const file = await writeSample('one-number.csv', `${VALID}\n`);
    const { code, stdout } = await runHere(['batch', file, '--json'], settings('test'));
    expect([code, JSON.parse(stdout.join(''))]).toEqual([
      2,
      { error: { code: 'TEST_KEY_NOT_ALLOWED', message: expect.stringMatching(/Use a live key/) } },
    ]);
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
    const wanted = { vat_number: 'PL102', reference: 'mcp', public_links: true };
    const [shown] = (await tools.use('find_evidence', wanted)).result.checks as { public_url: string }[];
    expect((await fetch(String(shown?.public_url))).status).toBe(200);
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

  it('answers everything that was sent before the end of its input', async () => {
    const call = { name: 'check_vat_number', arguments: { vat_number: 'DE100' } };
    // From Node 24 on, node:readline ends a line at the character in this name.
    const clientInfo = { name: 'line\u2028separator', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    const sent = [
      { id: 1, method: 'initialize', params },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/call', params: call },
      { id: 3, method: 'tools/call', params: call },
      // A client that cancels a request wants no answer to it.
      { method: 'notifications/cancelled', params: { requestId: 3 } },
    ];
    const input = sent.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');
    const { code, stdout, stderr } = await runProgram(program, ['mcp'], settings('test'), true, input);
    const answers = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect([code, stderr, answers.map(({ id }) => id)]).toEqual([0, '', [1, 2]]);
    expect(answers[1].result.structuredContent).toMatchObject({ vat_number: 'DE100', valid: true });
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
