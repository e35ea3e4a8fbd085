import { provideAuditorTools } from '@vat/testkit';
import { makeTestAuthority } from '../verify/test-authority.fixture.js';
import { sortCertificates } from './tally.js';

describe('sortCertificates', () => {
  it('separates the topmost certificate of each chain, in any order, without duplicates', async () => {
    const run = await provideAuditorTools();
    const [one, two] = [await makeTestAuthority(run, 'One'), await makeTestAuthority(run, 'Two')];
    const sorted = sortCertificates([one.intermediate, `${one.root}\n${two.intermediate}`, one.root]);
    expect(sorted).toEqual({ roots: [one.root, two.intermediate], intermediates: [one.intermediate] });
    expect(sortCertificates([])).toEqual({ roots: [], intermediates: [] });
    const crossed = await makeTestAuthority(run, 'Crossed', { crossSigned: true });
    const [root, cross] = [crossed.root, String(crossed.crossSigned)];
    expect(sortCertificates([cross, root])).toEqual({ roots: [root], intermediates: [cross] });
    expect(sortCertificates([crossed.intermediate, cross])).toEqual({
      roots: [cross],
      intermediates: [crossed.intermediate],
    });
    await crossed.close();
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    expect(() => sortCertificates([broken])).toThrow();
    await one.close();
    await two.close();
  });
});
