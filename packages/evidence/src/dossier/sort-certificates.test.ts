import { openOpenssl } from '../timestamp/openssl-authority.fixture.js';
import { sortCertificates } from './tally.js';

describe('sortCertificates', () => {
  it('separates the topmost certificate of each chain, in any order, without duplicates', async () => {
    const openssl = await openOpenssl();
    const [one, two] = [openssl.makeAuthority('One'), openssl.makeAuthority('Two')];
    const sorted = sortCertificates([one.intermediate, `${one.root}\n${two.intermediate}`, one.root]);
    expect(sorted).toEqual({ roots: [one.root, two.intermediate], intermediates: [one.intermediate] });
    expect(sortCertificates([])).toEqual({ roots: [], intermediates: [] });
    const crossed = openssl.makeAuthority('Crossed', { crossSigned: true });
    const [root, cross] = [crossed.root, String(crossed.crossSigned)];
    expect(sortCertificates([cross, root])).toEqual({ roots: [root], intermediates: [cross] });
    expect(sortCertificates([crossed.intermediate, cross])).toEqual({
      roots: [cross],
      intermediates: [crossed.intermediate],
    });
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    expect(() => sortCertificates([broken])).toThrow();
    openssl.close();
  });
});
