import {
  createDevelopmentAuthority,
  createTimestamper,
  makeDevelopmentIdentity,
  type Timestamper,
  tokenCertificates,
} from '@vat/evidence';
import { openSealers } from './dossier-source.js';

const now = () => new Date();
const SUMS = Buffer.from('sums');

/** Stamps of the development authority whose path ends in `root()`. */
const stampsTo = async (root: () => string): Promise<Timestamper> => {
  const identity = await makeDevelopmentIdentity(now());
  const development = () => createDevelopmentAuthority({ identity, now });
  const { stamp, close } = createTimestamper({ url: null, development, now });
  return { stamp: async (data) => ({ ...(await stamp(data)), certificates: [root()] }), close };
};

test('the sealer returns every certificate in its time-stamps and those of the path to the root', async () => {
  // The path is shorter than the certificates in the token and ends in a root that is not among them, as with a cross-signed root.
  const { stamp, close } = await stampsTo(() => 'a root');
  const sealer = openSealers({
    stamp,
    onFailure: (error) => {
      throw error;
    },
  })();
  const certificates = await sealer.certificates();
  const token = await sealer.stamp(SUMS);
  close();
  const carried = tokenCertificates(token ?? new Uint8Array());
  expect(carried).toHaveLength(2);
  expect(certificates).toEqual(expect.arrayContaining(['a root', ...carried]));
});

test('a dossier without the certificates of its time-stamp gets none, also while another one is made; the next one does', async () => {
  let root = 'an old root';
  const failures: unknown[] = [];
  const { stamp, close } = await stampsTo(() => root);
  const newSealer = openSealers({ stamp, onFailure: (error) => failures.push(error) });
  const [before, beside, after] = [newSealer(), newSealer(), newSealer()];
  await before.certificates();
  await beside.certificates();
  root = 'a new root';
  expect(await before.stamp(SUMS)).toBeNull();
  expect(await beside.stamp(SUMS)).toBeNull();
  expect(await after.certificates()).toContain('a new root');
  expect(await after.stamp(SUMS)).not.toBeNull();
  close();
  expect(failures).toHaveLength(2);
});

test('an authority that signs with two certificates in turn stamps every dossier once both are known', async () => {
  let stamps = 0;
  const failures: unknown[] = [];
  const { stamp, close } = await stampsTo(() => {
    stamps += 1;
    return `root ${stamps % 2}`;
  });
  const newSealer = openSealers({ stamp, onFailure: (error) => failures.push(error) });
  const seal = async () => {
    const sealer = newSealer();
    await sealer.certificates();
    return (await sealer.stamp(SUMS)) !== null;
  };
  expect([await seal(), await seal(), await seal(), await seal()]).toEqual([false, true, true, true]);
  close();
  expect(failures).toHaveLength(1);
});
