import type { MakeStampDeps, StampData } from '@vat/domain';
import type { Timestamper } from './create-timestamper.js';
import { TimestampRefused } from './timestamp-refused.js';

/** A timestamper in the words of the domain: what stamps data, and what its rejections say. */
export const domainStamper = ({ stamp }: Pick<Timestamper, 'stamp'>): Pick<MakeStampDeps, 'stamp' | 'reasonOf'> => {
  const stampData: StampData = async (data, signal) => {
    const { tokenBytes, certificates: _inToken, ...facts } = await stamp(data, signal);
    return { token: tokenBytes, ...facts };
  };
  return {
    stamp: stampData,
    reasonOf: (error) =>
      error instanceof TimestampRefused
        ? { error: `${error.refusal}: ${error.message}`, asked: error.refusal !== 'circuit_open' }
        : null,
  };
};
