import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PROJECT_ROOT, provideAuditorTools } from '@vat/testkit';
import { runCommand } from './run-command.js';
import { runHere } from './run-here.fixture.js';
import { VERDICTS } from './verify-dossier.js';

/** The first test of a clone may have to fetch python3 and openssl. */
const WITH_TOOLS_MS = 90_000;

const EVIDENCE = path.join(PROJECT_ROOT, 'packages/evidence');
const VERIFIER = path.join(EVIDENCE, 'assets/verify.py');

/** Copies a zip file with a changed check. */
const CHANGE = `import sys, zipfile
source = zipfile.ZipFile(sys.argv[1])
changed = min(name for name in source.namelist() if name.startswith('checks/'))
with zipfile.ZipFile(sys.argv[2], 'w') as target:
    for name in source.namelist():
        bytes = source.read(name)
        target.writestr(name, bytes.replace(b'"valid":true', b'"valid":false') if name == changed else bytes)
`;

/** Copies a zip file and adds files with hostile names. */
const ADD = `import shutil, sys, zipfile
shutil.copy(sys.argv[1], sys.argv[2])
with zipfile.ZipFile(sys.argv[2], 'a') as target:
    for name in ('\\x1b[2J\\u202e.txt', 'a\\u2028b\\u00a0\\x9b.txt', '\\U000e0041 ü.txt'):
        target.writestr(name, b'')
`;

/** The parts of a report that both verifiers must agree in. */
const summaryOf = (report: string, code: number | null) => {
  const { format, version, result, exit_code, problems } = JSON.parse(report);
  return {
    code,
    format,
    version,
    result,
    exit_code,
    problems: problems.map((problem: { code: string }) => problem.code),
  };
};

test(
  'reports what verify.py reports: of dossiers that hold, of one that was changed, and of another file',
  async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'vat-verify-'));
    try {
      const run = await provideAuditorTools();
      const [graded, covered] = ['graded', 'coverage'].map((name) =>
        path.join(EVIDENCE, `fixtures/dossier-${name}.zip`),
      );
      const [changed, other] = [path.join(folder, 'changed.zip'), path.join(folder, 'other.zip')];
      expect(await run('python3', ['-c', CHANGE, String(covered), changed])).toEqual({ code: 0, output: '' });
      await writeFile(other, 'no zip file');
      const codes = [];
      for (const file of [String(graded), String(covered), changed, other]) {
        const [ours, theirs] = [
          await runHere(['verify', file, '--json']),
          await run('python3', ['-I', VERIFIER, file, '--json']),
        ];
        expect(summaryOf(ours.stdout.join(''), ours.code)).toEqual(summaryOf(theirs.output, theirs.code));
        codes.push(ours.code);
      }
      expect(codes).toEqual([0, 0, 1, 2]);
      expect((await runHere(['verify', String(covered)])).stdout.join('\n')).toMatch(
        /^ok +[\s\S]*\nThe dossier holds\.$/,
      );
      expect((await runHere(['verify', changed])).stdout.join('\n')).toMatch(
        /\nWRONG {2}[\s\S]*The dossier does not hold\.$/,
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  },
  WITH_TOOLS_MS,
);

test(
  'escapes the names in a dossier as verify.py does, and prints them to programs as they are',
  async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'vat-verify-'));
    try {
      const run = await provideAuditorTools();
      const hostile = path.join(folder, 'hostile.zip');
      const source = path.join(EVIDENCE, 'fixtures/dossier-coverage.zip');
      expect(await run('python3', ['-c', ADD, source, hostile])).toEqual({ code: 0, output: '' });
      const wrongOf = (output: string) => output.split('\n').filter((line) => line.startsWith('WRONG'));
      const ours = (await runHere(['verify', hostile])).stdout.join('\n');
      const theirs = (await run('python3', ['-I', VERIFIER, hostile])).output;
      expect(wrongOf(ours)).toEqual(wrongOf(theirs).map((line) => line.replace(/^WRONG +/, 'WRONG  ')));
      expect(ours).toContain(String.raw`WRONG  \u001b[2J\u202e.txt is`);
      expect(ours).toContain(String.raw`WRONG  \ue0041 ü.txt is`);
      // Nothing is left that a terminal interprets.
      for (const line of ours.split('\n')) expect(line).toMatch(/^\P{C}+$/u);
      const [report = ''] = (await runHere(['verify', hostile, '--json'])).stdout;
      expect(JSON.parse(report).problems.map(({ file }: { file: string }) => file)).toContain('\u001b[2J\u202e.txt');
    } finally {
      await rm(folder, { recursive: true });
    }
  },
  WITH_TOOLS_MS,
);

test('says how many of the time-stamps prove nothing', () => {
  expect(VERDICTS.holds_development({ stamps: 12, development_stamps: 9 })).toMatch(
    / but 9 of its 12 time-stamps come from a development authority /,
  );
});

test('ends by Ctrl-C, and says nothing about the dossier', async () => {
  const [stopping, printed, notes] = [new AbortController(), [] as string[], [] as string[]];
  const ended = runCommand(['verify', path.join(EVIDENCE, 'fixtures/dossier-coverage.zip')], {
    ...{ env: {}, signal: stopping.signal },
    ...{ print: (text) => void printed.push(text), note: (text) => void notes.push(text) },
    write: async (text) => void printed.push(text),
  });
  stopping.abort(new Error('Interrupted.'));
  expect([await ended, printed, notes]).toEqual([2, [], ['vat: Interrupted.']]);
});
