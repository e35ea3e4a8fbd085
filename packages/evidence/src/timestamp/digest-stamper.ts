import type { MakeStampDeps, StampDigest } from '@vat/domain';
import type { Timestamper } from './create-timestamper.js';
import { TimestampRefused } from './timestamp-refused.js';

/** A timestamper in the words of the domain: what stamps a digest, and what its rejections say. */
export const digestStamper = ({ stamp }: Pick<Timestamper, 'stamp'>): Pick<MakeStampDeps, 'stamp' | 'reasonOf'> => {
  const stampDigest: StampDigest = async (digest, signal) => {
    const { tokenBytes, certificates: _inToken, ...facts } = await stamp(digest, signal);
    return { token: tokenBytes, ...facts };
  };
  return {
    stamp: stampDigest,
    reasonOf: (error) =>
      error instanceof TimestampRefused
        ? { error: `${error.refusal}: ${error.message}`, asked: error.refusal !== 'circuit_open' }
        : null,
  };
};
