import { isIP, type LookupFunction } from 'node:net';

/** So many addresses are tried at most: a name with hundreds must not make a scanner of the sender. */
const MAX_TRIED = 4;

/** A lookup that asks nobody and answers with addresses already judged. At least one must be given. */
export const checkedLookup = (addresses: readonly string[]): LookupFunction => {
  const found = addresses.slice(0, MAX_TRIED).map((address) => ({ address, family: isIP(address) }));
  return (_hostname, options, callback) => {
    const [first] = found;
    if (!first) return callback(new Error('no address'), '', 0);
    if (options.all) return callback(null, found);
    callback(null, first.address, first.family);
  };
};
