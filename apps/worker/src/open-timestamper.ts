import { findDevelopmentIdentity, storeDevelopmentIdentity } from '@vat/db';
import { type MakeStampDeps, userAgentOf } from '@vat/domain';
import { createTimestamper, digestStamper, openDevelopmentAuthority } from '@vat/evidence/proof';
import { SettingsError, type Stoppable } from '@vat/runtime';
import type { Foundation } from './foundation.js';

/** What stamps, in the words of the domain. Throws SettingsError when TSA_ROOTS holds no certificate. */
export const openTimestamper = ({
  settings,
  db,
  now,
}: Foundation): { stamper: Pick<MakeStampDeps, 'stamp' | 'reasonOf'>; part: Stoppable } => {
  const development = openDevelopmentAuthority({
    find: findDevelopmentIdentity(db),
    store: storeDevelopmentIdentity(db),
    masterKey: settings.SECRET_KEY,
    previousKey: settings.SECRET_KEY_PREVIOUS,
    now,
  });
  const open = () => {
    try {
      const trustedRoots = settings.TSA_ROOTS === undefined ? undefined : [settings.TSA_ROOTS];
      const userAgent = userAgentOf(settings.CONTACT_URL);
      return createTimestamper({ url: settings.TSA_URL ?? null, development, now, trustedRoots, userAgent });
    } catch (error) {
      throw new SettingsError(`TSA_ROOTS: ${error instanceof Error ? error.message : String(error)}.`);
    }
  };
  const timestamper = open();
  return {
    stamper: digestStamper(timestamper),
    part: { name: 'time-stamps', stop: async () => timestamper.close() },
  };
};
