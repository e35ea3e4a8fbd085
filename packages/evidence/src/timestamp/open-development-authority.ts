import { openText, type Seal, SealedTextError, sealText } from '@vat/domain';
import { createDevelopmentAuthority, type DevelopmentAuthority } from './create-development-authority.js';
import { type DevelopmentIdentity, makeDevelopmentIdentity } from './make-development-identity.js';

/** The identity as it is stored: the certificates in PEM, and the key sealed under SECRET_KEY. */
export type SealedIdentity = { certificate: string; root: string; keySealed: Uint8Array };

type OpenDevelopmentAuthorityDeps = {
  find: () => Promise<SealedIdentity | null>;
  /** Stores one in place of `instead`; whoever of several processes comes first wins. */
  store: (made: SealedIdentity, instead: SealedIdentity | null, now: Date) => Promise<void>;
  /** SECRET_KEY. */
  masterKey: string;
  /** SECRET_KEY_PREVIOUS: opens the key that was sealed before SECRET_KEY was changed. */
  previousKey?: string | undefined;
  now: () => Date;
};

/**
 * Opens the development authority that all processes of a deployment share: made by whoever needs it first, and again when
 * no key opens it any more (its earlier tokens go on verifying, for they carry their certificates). Throws SealedTextError
 * when what is stored is damaged, or processes have different keys.
 */
export const openDevelopmentAuthority =
  ({ find, store, masterKey, previousKey, now }: OpenDevelopmentAuthorityDeps) =>
  async (): Promise<DevelopmentAuthority> => {
    const sealOf = (certificate: string): Seal => ({
      ...{ masterKey, purpose: 'development authority', boundTo: certificate },
    });
    const open = ({ certificate, root, keySealed }: SealedIdentity): DevelopmentIdentity => ({
      ...{ certificate, root, key: openText({ ...sealOf(certificate), previousKey }, keySealed) },
    });
    const opened = (stored: SealedIdentity | null): DevelopmentIdentity | null => {
      try {
        return stored && open(stored);
      } catch (error) {
        if (error instanceof SealedTextError && error.reason === 'key') return null;
        throw error;
      }
    };

    const stored = await find();
    const known = opened(stored);
    if (known) return createDevelopmentAuthority({ identity: known, now });
    const { key, certificate, root } = await makeDevelopmentIdentity(now());
    await store({ certificate, root, keySealed: sealText(sealOf(certificate), key) }, stored, now());
    const kept = await find();
    if (!kept) throw new Error('the development authority was not stored');
    return createDevelopmentAuthority({ identity: open(kept), now });
  };
