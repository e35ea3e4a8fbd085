import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { makeDatedAuthority } from '../timestamp/dated-authority.fixture.js';
import { DEVELOPMENT_POLICY } from '../timestamp/object-identifiers.js';
import { verifyDossier } from '../verify-dossier/index.js';
import { auditorOfTests } from './open-auditor.fixture.js';
import type { Tampered } from './tampered.fixture.js';

const ANCHOR = 'anchors/1.tsr';
/** The times of certificates and of a time-stamp. */
const TIMES = /\d{12,}(?:\.\d+)?(?=Z)/g;
const NAMES_ANOTHER = 'its signature names another certificate';

const auditor = auditorOfTests();

/** What both verifiers say about one time-stamp; fails if they do not say the same. */
const saidOf = async (copy: Tampered, file = ANCHOR): Promise<string[]> => {
  const reports = [await copy.report(), await verifyDossier(await copy.zip())];
  const [python, browser] = reports.map(({ problems }) =>
    problems.filter((one) => one.file === file && one.code !== 'file_changed').map(({ message }) => message),
  );
  expect(python).toEqual(browser);
  return python ?? [];
};

/** Makes another authority stamp the first anchor. */
const stampAnchor = async (copy: Tampered, name: string, policy?: string) => {
  const period = { from: new Date('2024-01-01T00:00:00.000Z'), to: new Date('2099-12-31T00:00:00.000Z') };
  const authority = makeDatedAuthority(name, policy === undefined ? period : { ...period, policy });
  const anchor = await readFile(path.join(copy.folder, 'anchors/1.json'));
  await copy.write(ANCHOR, authority.stamp(anchor, new Date('2024-12-01T00:00:00.000Z')));
  await copy.write('certs/tsa-roots.pem', `${await copy.read('certs/tsa-roots.pem')}${authority.root}`);
  await copy.reseal(auditor.authority);
  return authority;
};

describe('both verifiers say the same', () => {
  it('about a time-stamp in which a time or the signature was changed, and never that it has expired', async () => {
    const copy = await auditor.tamper();
    const before = await readFile(path.join(copy.folder, ANCHOR));
    const change = async (at: number) => {
      const after = Buffer.from(before);
      after[at] = (after[at] ?? 0) ^ 1;
      await copy.write(ANCHOR, after);
      return (await saidOf(copy)).map((message) => message.replace(`${ANCHOR} does not verify: `, ''));
    };
    const said: string[] = [];
    for (const { index, 0: time } of before.toString('latin1').matchAll(TIMES))
      said.push(...(await change(index + time.length - 1)));
    // Two of the signer's certificate. Those of others are not needed, because certs/ has the certificates.
    expect(said.sort()).toEqual([
      ...['its signature covers other content', 'its signature is invalid', NAMES_ANOTHER, NAMES_ANOTHER],
    ]);
    expect(await change(before.length - 1)).toEqual(['its signature is invalid']);
  });

  it('about an authority that is not trusted', async () => {
    const copy = await auditor.tamper();
    const anchor = await readFile(path.join(copy.folder, 'anchors/1.json'));
    await copy.write(ANCHOR, await auditor.makeAuthority('Stranger').stamp(anchor));
    expect(await saidOf(copy)).toEqual([
      `${ANCHOR} does not verify: its certificate does not lead to a trusted root, or was not valid then`,
    ]);
  });

  it('about a dossier with time-stamps of a development authority and of another one', async () => {
    const copy = await auditor.tamper();
    await stampAnchor(copy, 'Development', DEVELOPMENT_POLICY);
    const [python, browser] = [await copy.report(), await verifyDossier(await copy.zip())];
    for (const { result, counts, notes } of [python, browser]) {
      expect([result, counts]).toMatchObject(['holds_development', { stamps: 5, development_stamps: 1 }]);
      expect(notes.at(-1)).toMatch(
        /^1 of 5 time-stamp.* development authority: .* whole dossier is not one of them\.?$/i,
      );
    }
  });
});

describe('verify.py --roots', () => {
  it('names the authority whose root is not in the file, and what to do', async () => {
    const copy = await auditor.tamper();
    const given = path.join(await auditor.makeFolder(), 'roots.pem');
    await writeFile(given, auditor.authority.root);
    const wrong = async () => {
      const { code, output } = await copy.verify('--roots', given);
      expect(code).toBe(1);
      expect(output).toMatch(/all authorities that stamped the dossier, also of earlier ones\. Otherwise export/);
      return output.split('\n').filter((line) => line.startsWith('WRONG'));
    };
    const former = await stampAnchor(copy, 'Former');
    const missing = (name: string) =>
      `WRONG ${ANCHOR} does not verify: the root certificate of its authority (${name} unit, ${name} root) is not in the file of --roots`;
    expect((await wrong()).map((line) => line.replace('Former root, Former unit', 'Former unit, Former root'))).toEqual(
      [missing('Former')],
    );
    await writeFile(given, `${auditor.authority.root}${former.root}`);
    expect(await copy.verify('--roots', given)).toMatchObject({ code: 0 });
    await stampAnchor(copy, 'Development', DEVELOPMENT_POLICY);
    expect(
      (await wrong()).map((line) =>
        line.replace('Development root, Development unit', 'Development unit, Development root'),
      ),
    ).toEqual([`${missing('Development')}. It is a development authority, whose time-stamps prove nothing about time`]);
  });
});
