import {
  createDevelopmentAuthority,
  createTimestamper,
  makeDevelopmentIdentity,
  type Timestamper,
  tokenCertificates,
} from '@vat/evidence';
import { openSealer } from './dossier-source.js';

test('the sealer returns every certificate in its time-stamps and those of the path to the root', async () => {
  const now = () => new Date();
  const identity = await makeDevelopmentIdentity(now());
  const development = () => createDevelopmentAuthority({ identity, now });
  const timestamper = createTimestamper({ url: null, development, now });
  // The path is shorter than the certificates in the token and ends in a root that is not among them, as with a cross-signed root.
  const stamp: Timestamper['stamp'] = async (data) => ({
    ...(await timestamper.stamp(data)),
    certificates: ['a root'],
  });
  const sealer = openSealer({
    stamp,
    onFailure: (error) => {
      throw error;
    },
  });
  const certificates = await sealer.certificates();
  const token = await sealer.stamp(Buffer.from('sums'));
  timestamper.close();
  const carried = tokenCertificates(token ?? new Uint8Array());
  expect(carried).toHaveLength(2);
  expect(certificates).toEqual(expect.arrayContaining(['a root', ...carried]));
});
