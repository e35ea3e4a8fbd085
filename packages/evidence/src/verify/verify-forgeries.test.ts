import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { sampleId } from '../dossier/sample-source.fixture.js';
import { hashLeaf, hashNode } from '../tree/tree-blocks.js';
import { verifyDossier } from '../verify-dossier/verify-dossier.js';
import { auditorOfTests } from './open-auditor.fixture.js';
import type { Tampered } from './tampered.fixture.js';

const CHECK = sampleId('check', 0);
const SECOND = sampleId('check', 1);
/** The last leaf of the last anchor; it has no time-stamp of its own. */
const LAST = sampleId('check', 5);
const REQUEST = sampleId('request', 999);

const auditor = auditorOfTests();

describe('a forger who gets a new SHA256SUMS.tsr from the real authority', () => {
  /** The output of the verifier for a copy that was forged and sealed again. */
  const forged = async (forge: (copy: Tampered) => Promise<void>): Promise<string> => {
    const copy = await auditor.tamper();
    await forge(copy);
    await copy.reseal(auditor.authority);
    const { code, output } = await copy.verify();
    expect(code).toBe(1);
    expect(output).toMatch(/DOES NOT HOLD/);
    return output;
  };
  const hashOf = async (copy: Tampered, file: string) =>
    createHash('sha256')
      .update(await readFile(path.join(copy.folder, file)))
      .digest('hex');

  it('cannot change a check: its anchor and its time-stamp are of the old one', async () => {
    const output = await forged(async (copy) => {
      const file = `checks/${CHECK}.json`;
      const before = await hashOf(copy, file);
      await copy.replace(file, 'WAPIAAAA0', 'WAPIBBBB0');
      await copy.replace('checks.csv', 'WAPIAAAA0', 'WAPIBBBB0');
      await copy.replace('checks.csv', before, await hashOf(copy, file));
    });
    expect(output).toContain(`the proof of ${CHECK} does not lead to the root of anchor 1`);
    expect(output).toContain(`timestamps/${CHECK}.tsr is not a time-stamp of the content of`);
  });

  it('cannot swap two proofs or use the position of another check', async () => {
    const swapped = await forged(async (copy) => {
      const [one, two, ...rest] = (await copy.read('proofs.jsonl')).split('\n');
      const to = (line: string | undefined, id: string) => JSON.stringify({ ...JSON.parse(line ?? ''), id });
      await copy.write('proofs.jsonl', [to(one, SECOND), to(two, CHECK), ...rest].join('\n'));
    });
    expect(swapped).toContain(`the proof of ${CHECK} does not lead`);
    expect(swapped).toContain(`the proof of ${SECOND} does not lead`);
    const doubled = await forged(async (copy) => {
      const [one] = (await copy.read('proofs.jsonl')).split('\n');
      await copy.write('proofs.jsonl', `${await copy.read('proofs.jsonl')}${one}\n`);
    });
    expect(doubled).toContain('twice');
  });

  it('cannot change the root of an anchor or its position in the chain', async () => {
    const root = await forged((copy) => copy.replace('anchors/1.json', /"root":"[0-9a-f]{4}/, '"root":"0000'));
    expect(root).toContain('does not lead to the root of anchor 1');
    expect(root).toContain('the chain breaks at anchors/2.json');
    expect(root).toContain('anchors/1.tsr is not a time-stamp of the content of');
    const chain = await forged(async (copy) => {
      await copy.replace('anchors/2.json', /"prev_anchor_hash":"[0-9a-f]{4}/, '"prev_anchor_hash":"0000');
      await copy.write('anchors/2.tsr', await auditor.authority.stamp(Buffer.from(await copy.read('anchors/2.json'))));
    });
    expect(chain).toContain('the chain breaks at anchors/2.json: it does not follow from anchors/1.json');
    const renamed = await forged(async (copy) => {
      for (const end of ['json', 'tsr']) {
        await copy.write(`anchors/3.${end}`, await readFile(path.join(copy.folder, `anchors/2.${end}`)));
        await copy.remove(`anchors/2.${end}`);
      }
    });
    expect(renamed).toContain('anchors/3.json is anchor 2');
  });

  it('cannot lead the proof of a forged check to a second file for the number of a real anchor', async () => {
    const copy = await auditor.tamper();
    const file = `checks/${LAST}.json`;
    const before = await hashOf(copy, file);
    await copy.replace(file, 'WAPIAAAA5', 'WAPIBBBB5');
    await copy.replace('checks.csv', 'WAPIAAAA5', 'WAPIBBBB5');
    const after = await hashOf(copy, file);
    await copy.replace('checks.csv', before, after);
    const lines = (await copy.read('proofs.jsonl')).split('\n').filter((line) => line.includes(LAST));
    const [sibling = ''] = JSON.parse(lines[0] ?? '').path as string[];
    const root = hashNode(Buffer.from(sibling, 'hex'), hashLeaf(Buffer.from(after, 'hex'))).toString('hex');
    const forged = (await copy.read('anchors/2.json')).replace(/"root":"[0-9a-f]{64}"/, `"root":"${root}"`);
    // The real anchor and its genuine time-stamp stay. Several spellings, because only one file of them is compared.
    const names = ['02', '002', '0002', '00002', '000002', '0000002', '00000002', '000000002'];
    for (const name of names) await copy.write(`anchors/${name}.json`, forged);
    await copy.reseal(auditor.authority);
    const { code, output } = await copy.verify();
    expect(code).toBe(1);
    for (const name of names) expect(output).toContain(`anchors/${name}.json is anchor 2`);
    const { problems } = await verifyDossier(await copy.zip());
    expect(problems.map(({ message }) => message)).toEqual(
      expect.arrayContaining(names.map((name) => `anchors/${name}.json is anchor 2`)),
    );
  });

  it('cannot truncate a time-stamp, append bytes to it, or use that of another check', async () => {
    const stamp = `timestamps/${CHECK}.tsr`;
    const bytes = await readFile(path.join(auditor.original, stamp));
    const cut = await forged((copy) => copy.write(stamp, bytes.subarray(0, -9)));
    expect(cut).toContain(`${stamp} cannot be read as a time-stamp`);
    const longer = await forged((copy) => copy.write(stamp, Buffer.concat([bytes, Buffer.of(0)])));
    expect(longer).toContain(`${stamp} cannot be read as a time-stamp`);
    const others = await readFile(path.join(auditor.original, `timestamps/${SECOND}.tsr`));
    const swapped = await forged((copy) => copy.write(stamp, others));
    expect(swapped).toContain(`${stamp} is not a time-stamp of the content of`);
  });

  it('cannot remove a check, an exchange, a request, a change or a time-stamp without changing every count', async () => {
    const output = await forged(async (copy) => {
      await copy.remove(`checks/${SECOND}.json`);
      await copy.remove(`exchanges/${CHECK}/01-vies.json`);
      await copy.remove(`timestamps/${CHECK}.tsr`);
      await copy.remove(`requests/${REQUEST}/request.json`);
      await copy.remove('anchors/2.json');
      await copy.replace('proofs.jsonl', /^.*\n/, '');
      await copy.replace('watch-changes.csv', /\n[^\n]+\n$/, '\n');
    });
    for (const complaint of [
      `checks.csv names ${SECOND}, which is not in checks/`,
      `exchanges/${CHECK}/01-vies.request belongs to no exchange`,
      `checks.csv and timestamps/ differ about ${CHECK}`,
      'requests.csv and requests/ differ',
      'anchors/2.tsr is a time-stamp of a file that the dossier does not contain',
      `the proof of ${CHECK} is missing`,
      'manifest.json counts 1 watch_changes; there are 0',
    ])
      expect(output).toContain(complaint);
    const unanswered = await forged((copy) => copy.remove(`exchanges/${CHECK}/01-vies.response`));
    expect(unanswered).toContain(`exchanges/${CHECK}/01-vies.response is missing`);
  });

  it('cannot make the tables differ from the checks', async () => {
    const cell = await forged((copy) => copy.replace('checks.csv', 'PL5260000000', 'PL5260000009'));
    expect(cell).toContain(`checks.csv differs from checks/${CHECK}.json in vat_number`);
    const verdict = await forged((copy) => copy.replace('manifest.json', '"valid": 7', '"valid": 6'));
    expect(verdict).toContain('manifest.json counts 6 valid; there are 7');
    // What a spreadsheet shows in the place of a column that is compared.
    const wide = await forged(async (copy) => {
      const table = await copy.read('checks.csv');
      await copy.write('checks.csv', table.replace(/\r\n/g, ',invalid\r\n').replace(',invalid\r\n', ',Verdict\r\n'));
    });
    expect(wide).toContain('checks.csv cannot be read, so the rest cannot be checked: ValueError it has other columns');
    const doubled = await forged((copy) => copy.replace('requests.csv', ',status,', ',reason,'));
    expect(doubled).toContain(
      'requests.csv cannot be read, so the rest cannot be checked: ValueError a column occurs twice',
    );
    const beside = await forged((copy) =>
      copy.replace('coverage/results.csv', ',missing,', `,covered,DE1,2024-11-25,${CHECK},,,,,missing,`),
    );
    expect(beside).toContain('a row has more or fewer cells than the table has columns');
    const spaced = await forged((copy) => copy.replace(`checks/${CHECK}.json`, '{', '{ '));
    expect(spaced).toContain('not in the form that is hashed');
    const twice = await forged((copy) => copy.replace(`checks/${CHECK}.json`, '{', '{"valid":false,'));
    expect(twice).toContain('a key occurs twice');
  });

  it('cannot use a time-stamp or an anchor that is older than its content', async () => {
    const restamp = async (copy: Tampered, file: string, token: string) =>
      copy.write(token, await auditor.authority.stamp(Buffer.from(await copy.read(file))));
    const ahead = await forged(async (copy) => {
      await copy.replace('anchors/2.json', /"closed_at":"2024/, '"closed_at":"2999');
      await restamp(copy, 'anchors/2.json', 'anchors/2.tsr');
      await copy.replace('manifest.json', /"created_at": "2024/, '"created_at": "2998');
      for (const file of [`checks/${CHECK}.json`, 'checks.csv'])
        await copy.replace(file, '2024-11-20T12:00:00.000Z', '2997-11-20T12:00:00.000Z');
      await restamp(copy, `checks/${CHECK}.json`, `timestamps/${CHECK}.tsr`);
    });
    expect(ahead).toMatch(/anchors\/2\.json was stamped 20.* before its content was made \(2999-11-20 13:00:03 UTC\)/);
    expect(ahead).toMatch(/SHA256SUMS was stamped 20.* before its content was made \(2999-/);
    expect(ahead).toMatch(new RegExp(`checks/${CHECK}.json was stamped 20.* before its content was made \\(2997-`));
    expect(ahead).toMatch(new RegExp(`${CHECK} was checked 2997-.* after its anchor 1 was closed`));
    const made = await forged((copy) => copy.replace('manifest.json', /"created_at": "2024/, '"created_at": "2998'));
    expect(made).toMatch(/SHA256SUMS was stamped 20.* before its content was made \(2998-/);
  });

  it('cannot send control characters to the terminal in a name', async () => {
    const output = await forged((copy) => copy.write('checks/\u001b[2Jx.json', '{}'));
    expect(output).toContain('\\u001b[2Jx.json');
    expect(output).not.toContain('\u001b');
  });
});
