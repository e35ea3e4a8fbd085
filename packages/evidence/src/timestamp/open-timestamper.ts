import { userAgentOf } from '@vat/domain';
import { createTimestamper, type OtherRoot, type Timestamper, type TimestamperOptions } from './create-timestamper.js';
import { type OpenDevelopmentAuthorityDeps, openDevelopmentAuthority } from './development-authority.js';
import type { TimestampHash } from './object-identifiers.js';

/** The log message of an authority that presents another root. */
export const OTHER_ROOT = 'The time-stamping authority presents a root other than the pinned one.';

type TimestamperSettings = {
  TSA_URL?: string | undefined;
  TSA_ROOTS?: string | undefined;
  TSA_HASH: TimestampHash;
  SECRET_KEY: string;
  SECRET_KEY_PREVIOUS?: string | undefined;
  CONTACT_URL?: string | undefined;
  EGRESS_PROXY?: string | undefined;
};

type TimestamperPorts = Pick<OpenDevelopmentAuthorityDeps, 'find' | 'store' | 'now'> & {
  pin: NonNullable<TimestamperOptions['pinning']>['pin'];
  onOtherRoot: (roots: OtherRoot & { tsa_url: string }) => void;
};

/**
 * Opens the time-stamping client that the settings describe. Throws when TSA_ROOTS holds no certificate, or is missing for an
 * address without TLS.
 */
export const openTimestamper = (
  settings: TimestamperSettings,
  { find, store, pin, onOtherRoot, now }: TimestamperPorts,
): Timestamper =>
  createTimestamper({
    url: settings.TSA_URL ?? null,
    hash: settings.TSA_HASH,
    trustedRoots: settings.TSA_ROOTS === undefined ? undefined : [settings.TSA_ROOTS],
    userAgent: userAgentOf(settings.CONTACT_URL),
    proxyUrl: settings.EGRESS_PROXY,
    development: openDevelopmentAuthority({
      find,
      store,
      masterKey: settings.SECRET_KEY,
      previousKey: settings.SECRET_KEY_PREVIOUS,
      now,
    }),
    pinning: { pin, onOtherRoot },
    now,
  });
