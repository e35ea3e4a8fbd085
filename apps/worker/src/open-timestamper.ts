import { findDevelopmentIdentity, pinTimestampRoot, storeDevelopmentIdentity } from '@vat/db';
import { type MakeStampDeps, userAgentOf } from '@vat/domain';
import { createTimestamper, domainStamper, openDevelopmentAuthority } from '@vat/evidence/proof';
import { SettingsError, type Stoppable, saySparingly } from '@vat/runtime';
import { type Foundation, REPEAT_WARNING_MS } from './foundation.js';

/** What stamps, in the words of the domain. Throws SettingsError when TSA_ROOTS holds no certificate, or lacks a required one. */
export const openTimestamper = ({
  settings,
  db,
  log,
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
      return createTimestamper({
        ...{ url: settings.TSA_URL ?? null, development, now, trustedRoots, hash: settings.TSA_HASH },
        userAgent: userAgentOf(settings.CONTACT_URL),
        pinning: {
          pin: pinTimestampRoot(db),
          onOtherRoot: saySparingly(
            (fields) => log.error('The time-stamping authority shows another root than the pinned one.', fields),
            REPEAT_WARNING_MS,
            now,
          ),
        },
      });
    } catch (error) {
      throw new SettingsError(`TSA_ROOTS: ${error instanceof Error ? error.message : String(error)}.`);
    }
  };
  const timestamper = open();
  return {
    stamper: domainStamper(timestamper),
    part: { name: 'time-stamps', stop: async () => timestamper.close() },
  };
};
