import { chmod, mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { auditorOfTests } from './open-auditor.fixture.js';
import type { Tampered } from './tampered.fixture.js';

const VERIFIER = fileURLToPath(new URL('../../assets/verify.py', import.meta.url));

const auditor = auditorOfTests();
/** Every top-level module that Python loads for the verifier. */
let modules: string[];
beforeAll(async () => {
  const { output } = await auditor.run('python3', ['-I', '-X', 'importtime', VERIFIER, auditor.original]);
  const names = [...output.matchAll(/\| +([\w.]+)$/gm)].map(([, name = '']) => name.split('.')[0] ?? '');
  modules = [...new Set(names)].filter((name) => name !== '');
});

/** A folder into which planted code would write. */
const openTrap = async () => {
  const folder = await auditor.makeFolder();
  return { folder, caught: () => readdir(folder) };
};

/** Runs a shell command in the dossier, with the dossier first in the search paths of programs and libraries. */
const runInside = (copy: Tampered, command: string, environment = '') => {
  const script = `
    python=$(command -v python3); shell=$(command -v sh); dossier=$1; verifier=$2
    cd "$dossier"
    export OPENSSL_CONF=openssl.cnf OPENSSL_MODULES="$dossier" OPENSSL_ENGINES="$dossier" SSL_CERT_DIR="$dossier"
    export PATH=".::$dossier:$PATH"
    ${environment}
    ${command}`;
  return auditor.run('sh', ['-c', script, 'sh', copy.folder, VERIFIER]);
};

const plantProgram = async (copy: Tampered, name: string, script: string) => {
  await copy.write(name, `#!/bin/sh\n${script}\n`);
  await chmod(path.join(copy.folder, name), 0o755);
};

describe('a dossier with planted code', () => {
  const plantModule = async (copy: Tampered, name: string, code: string) => {
    await mkdir(path.join(copy.folder, name));
    for (const file of [`${name}/__init__.py`, `${name}.py`, `${name}.pyc`, `__pycache__/${name}.cpython-311.pyc`])
      await copy.write(file, code);
  };
  const runs: [string, string, string][] = [
    ['python3 -I verify.py', '"$python" -I verify.py', 'export PYTHONPATH="$dossier"'],
    ['python3 -I of the published verifier', '"$python" -I "$verifier" .', 'export PYTHONPATH="$dossier"'],
    ['python3 verify.py', '"$python" verify.py', ''],
    ['sh verify.sh', '"$shell" verify.sh', 'export PYTHONPATH="$dossier" PYTHONSTARTUP="$dossier/csv.py"'],
  ];

  it('is rejected, and its modules and packages are never run', async () => {
    const copy = await auditor.tamper();
    const trap = await openTrap();
    expect(modules).toEqual(expect.arrayContaining(['argparse', 'csv', 'hashlib', 'json', 'subprocess', 'tempfile']));
    const names = [...new Set([...modules, 'sitecustomize', 'usercustomize', '__main__'])];
    const codeOf = (name: string) => `open(${JSON.stringify(path.join(trap.folder, name))}, 'w').close()\n`;
    await mkdir(path.join(copy.folder, '__pycache__'));
    for (const name of names) await plantModule(copy, name, codeOf(name));
    await copy.write('planted.pth', `import sys; ${codeOf('planted')}`);
    for (const [how, command, environment] of runs) {
      const { code, output } = await runInside(copy, command, environment);
      expect([how, code, await trap.caught()]).toEqual([how, 1, []]);
      expect(output).toMatch(/WRONG .* was added: SHA256SUMS does not name it[\s\S]*DOES NOT HOLD/);
    }
    // The same with valid checksums and time-stamp, so that nothing ends the verification early.
    await copy.reseal(auditor.authority);
    for (const [how, command, environment] of runs) {
      const { code } = await runInside(copy, command, environment);
      expect([how, code, await trap.caught()]).toEqual([how, 0, []]);
    }
  });

  it('does not affect the verification with its programs, libraries and settings', async () => {
    const copy = await auditor.tamper();
    const trap = await openTrap();
    const programs = ['openssl', 'python3', 'sha256sum', 'find', 'grep', 'tr', 'dirname', 'env', 'cat', 'uname'];
    for (const name of programs) await plantProgram(copy, name, `: >'${path.join(trap.folder, name)}'; exit 0`);
    await copy.write('openssl.cnf', 'openssl_conf = planted\n[planted]\nproviders = list\n[list]\nplanted = nothing\n');
    for (const [how, command, environment] of runs) {
      const { code, output } = await runInside(copy, command, environment);
      expect([how, code, await trap.caught()]).toEqual([how, 1, []]);
      expect(output).toContain('openssl was added');
      // The time-stamps were verified nevertheless, with the machine's openssl and its default settings.
      expect(output).toMatch(/ok {4}5 time-stamp\(s\) verified/);
    }
    const { code, output } = await runInside(copy, '"$python" -I verify.py', 'PATH=".:$dossier"');
    expect([code, output, await trap.caught()]).toEqual([
      2,
      expect.stringContaining('the openssl program found is: none'),
      [],
    ]);
  });

  it('cannot make the verifier leave the dossier or block, with links, pipes and names', async () => {
    const inPython = (copy: Tampered) => auditor.run('python3', ['-I', VERIFIER, copy.folder]);
    const inShell = (copy: Tampered) => auditor.run('sh', [path.join(copy.folder, 'verify.sh')]);

    const piped = await auditor.tamper();
    await piped.remove('manifest.json');
    const { code: made } = await auditor.run('sh', [
      '-c',
      'mkfifo "$1"',
      'sh',
      path.join(piped.folder, 'manifest.json'),
    ]);
    expect(made).toBe(0);
    const linked = await auditor.tamper();
    await rm(path.join(linked.folder, 'certs'), { recursive: true });
    await symlink(path.join(auditor.original, 'certs'), path.join(linked.folder, 'certs'));
    const endless = await auditor.tamper();
    await endless.remove('SHA256SUMS');
    await symlink('/dev/zero', path.join(endless.folder, 'SHA256SUMS'));
    for (const [copy, name] of [
      [piped, 'manifest.json'],
      [linked, 'certs'],
      [endless, 'SHA256SUMS'],
    ] as const) {
      expect(await inPython(copy)).toEqual({
        code: 1,
        output: expect.stringContaining(`${name} is not an ordinary file`),
      });
      expect(await inShell(copy)).toEqual({ code: 1, output: expect.stringContaining(name) });
    }

    const named = await auditor.tamper();
    const sums = await named.read('SHA256SUMS');
    for (const name of ['../outside', 'checks/../../outside', '/dev/zero', './README.txt', 'a//b']) {
      await named.write('SHA256SUMS', `${sums}${'0'.repeat(64)}  ${name}\n`);
      await named.write('SHA256SUMS.tsr', await auditor.authority.stamp(Buffer.from(await named.read('SHA256SUMS'))));
      const wanted = {
        code: 1,
        output: expect.stringContaining(`malformed or repeated: ${'0'.repeat(64)}  ${name}`),
      };
      expect(await inPython(named)).toEqual(wanted);
      if (name !== './README.txt' && name !== 'a//b') expect(await inShell(named)).toEqual(wanted);
    }
  });

  it('cannot crash the verifier with deep nesting or large numbers', async () => {
    const nested = await auditor.tamper();
    await nested.write('manifest.json', '['.repeat(200_000));
    await nested.reseal(auditor.authority);
    const result = await nested.verify();
    expect(result).toEqual({
      code: 1,
      output: expect.stringMatching(/manifest.json cannot be read.*\n.*\nDOES NOT HOLD/),
    });
    const stamp = await auditor.tamper();
    await writeFile(path.join(stamp.folder, 'SHA256SUMS.tsr'), Buffer.alloc(100_000, Buffer.of(0x30, 0x80)));
    const refused = expect.stringMatching(/SHA256SUMS.tsr cannot be read as a time-stamp[\s\S]*DOES NOT HOLD/);
    expect(await stamp.verify()).toEqual({ code: 1, output: refused });
  });
});

describe('the verifier', () => {
  it('is one program that Python 3.6 can parse, so that it can say that Python is too old', async () => {
    const parse = 'import ast, sys; ast.parse(open(sys.argv[1]).read(), feature_version=(3, 6))';
    expect(await auditor.run('python3', ['-I', '-c', parse, VERIFIER])).toEqual({ code: 0, output: '' });
    const tooOld = {
      code: 2,
      output: expect.stringMatching(/^Python 3\.[67] is too old: [^\n]*3\.8 or later\.[^\n]*\n$/),
    };
    const old = 'import runpy, sys; sys.version_info = (3, 6, 15); runpy.run_path(sys.argv[-1], run_name="__main__")';
    expect(await auditor.run('python3', ['-I', '-c', old, VERIFIER])).toEqual(tooOld);
    // In verify.sh, as the only python3 of the machine.
    const programs = await auditor.makeFolder();
    await writeFile(path.join(programs, 'python3'), `#!/bin/sh\nexec "$REAL" -I -c '${old}' "$2"\n`, { mode: 0o755 });
    const shell = 'REAL=$(command -v python3) PATH="$1:$PATH" exec sh "$2"';
    expect(await auditor.run('sh', ['-c', shell, 'sh', programs, path.join(auditor.original, 'verify.sh')])).toEqual(
      tooOld,
    );
    for (const python of ['python3.6', 'python3.7']) {
      const { code, output } = await auditor.run('sh', ['-c', '"$1" -I "$2"', 'sh', python, VERIFIER]);
      // 127: this machine does not have it.
      if (code !== 127) expect({ code, output }).toEqual(tooOld);
    }
  });

  it('ends with 2 and without a traceback if its output cannot be written', async () => {
    const run = (script: string, ...args: string[]) =>
      auditor.run('sh', ['-c', script, 'sh', VERIFIER, auditor.original, ...args]);
    for (const more of ['', '--json']) {
      // The reader of the pipe ends at once.
      const closed = await run(`{ python3 -I "$1" "$2" ${more}; echo "ended with $?" >&2; } | true`);
      expect(closed.output).toBe('ended with 2\n');
      // Standard output is open for reading only.
      const unwritable = await run(`python3 -I "$1" "$2" ${more} 1</dev/null`);
      expect(unwritable).toEqual({
        code: 2,
        output: expect.stringMatching(/^The output cannot be written: [^\n]*\n$/),
      });
    }
    expect(await run('python3 -I "$1" "$2" >&-')).toEqual({ code: 0, output: '' });
  });

  it('runs with every Python from 3.8 on that this machine has', async () => {
    const minors = Array.from({ length: 13 }, (_, index) => index + 8);
    const script = `
      for python in python3 ${minors.map((minor) => `python3.${minor}`).join(' ')}; do
        "$python" -I -c '' 2>/dev/null || continue
        "$python" -I "$1" "$2" | tail -n 1
      done`;
    const { output } = await auditor.run('sh', ['-c', script, 'sh', VERIFIER, auditor.original]);
    expect(output).toMatch(/^(ALL HOLDS\.\n)+$/);
  });

  it('verifies the given folder from any working directory and prints its own SHA-256', async () => {
    const { folder } = await openTrap();
    const { code, output } = await auditor.run(
      'python3',
      ['-I', VERIFIER, path.relative(folder, auditor.original)],
      folder,
    );
    expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/\nALL HOLDS\.\n$/) });
    expect(output).toMatch(
      /note {2}this verifier has the SHA-256 [0-9a-f]{64}: the service publishes it at GET \/verifier/,
    );
    const none = await auditor.run('python3', ['-I', VERIFIER, path.join(folder, 'nothing')]);
    expect(none).toEqual({ code: 2, output: expect.stringMatching(/there is no folder or zip file.*\nNOT CHECKED: /) });
    const empty = await auditor.run('python3', ['-I', VERIFIER, folder]);
    expect(empty).toEqual({ code: 1, output: expect.stringContaining('SHA256SUMS is missing') });
  });
});
