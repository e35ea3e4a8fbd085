import { type Database, findDevelopmentIdentity, pinTimestampRoot, storeDevelopmentIdentity } from '@vat/db';
import { userAgentOf } from '@vat/domain';
import { createTimestamper, openDevelopmentAuthority, type Timestamper } from '@vat/evidence/proof';
import { type Logger, readAsSetting, type SettingsOf, throttledLog } from '@vat/runtime';

type TimestamperSettings = SettingsOf<
  'api',
  ('TSA_URL' | 'TSA_ROOTS' | 'TSA_HASH' | 'CONTACT_URL' | 'EGRESS_PROXY') | ('SECRET_KEY' | 'SECRET_KEY_PREVIOUS')
>;

type TimestamperContext = { db: Database; log: Logger; now: () => Date };

/**
 * Opens the time-stamping client that the settings describe. Throws a SettingsError when TSA_ROOTS holds no certificate, or is
 * missing for an address without TLS.
 */
export const openTimestamper = (settings: TimestamperSettings, { db, log, now }: TimestamperContext): Timestamper =>
  readAsSetting(
    () =>
      createTimestamper({
        url: settings.TSA_URL ?? null,
        hash: settings.TSA_HASH,
        trustedRoots: settings.TSA_ROOTS === undefined ? undefined : [settings.TSA_ROOTS],
        userAgent: userAgentOf(settings.CONTACT_URL),
        proxyUrl: settings.EGRESS_PROXY,
        development: openDevelopmentAuthority({
          find: findDevelopmentIdentity(db),
          store: storeDevelopmentIdentity(db),
          masterKey: settings.SECRET_KEY,
          previousKey: settings.SECRET_KEY_PREVIOUS,
          now,
        }),
        pinning: {
          pin: pinTimestampRoot(db),
          onOtherRoot: throttledLog(
            (fields) => log.error('The time-stamping authority presents a root other than the pinned one.', fields),
            now,
          ),
        },
        now,
      }),
    'TSA_ROOTS',
  );
