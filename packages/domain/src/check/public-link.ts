import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { publicId, type StoredId, uuidOf } from '../ids.js';
import { openText, SealedTextError, sealText } from '../sealing.js';

/** 144 bits. A multiple of three bytes, so that each token has exactly one spelling in base64url. */
const TOKEN_BYTES = 18;
const FORM = /^(chk_[0-9a-z]{26})\.([A-Za-z0-9_-]{24})$/;

/** Makes and reads the links of the public pages that show and verify one check. Both reject when the key cannot be read. */
export type PublicLinks = {
  /** The path of the public page of a check: `/verify/<check id>.<token>`. */
  pathOf: (checkId: StoredId<'check'>) => Promise<string>;
  /** The check of the last part of such a path. `null` when it is ill-formed or its token is not that of the check. */
  checkOf: (link: string) => Promise<StoredId<'check'> | null>;
};

/** The token of a text in links: 24 characters of an HMAC-SHA256 under the key of public links. */
export const linkToken = (key: Uint8Array, text: string): string =>
  createHmac('sha256', key).update(text).digest().subarray(0, TOKEN_BYTES).toString('base64url');

/** Whether a token of 24 characters is that of a text. */
export const isLinkToken = (key: Uint8Array, text: string, token: string): boolean =>
  timingSafeEqual(Buffer.from(linkToken(key, text)), Buffer.from(token));

/**
 * The token of a check is that of its id, so it need not be stored: whoever has it received the link, and it opens no other check.
 * The key is not read for an ill-formed link.
 */
export const publicLinks = (readKey: () => Promise<Uint8Array>): PublicLinks => ({
  pathOf: async (checkId) => `/verify/${publicId('check', checkId)}.${linkToken(await readKey(), checkId)}`,
  checkOf: async (link) => {
    const [, id = '', token = ''] = FORM.exec(link) ?? [];
    const checkId = uuidOf('check', id);
    if (checkId === null) return null;
    return isLinkToken(await readKey(), checkId, token) ? checkId : null;
  },
});

const KEY_BYTES = 32;

/** How the key of public links is sealed. A deployment has one. */
export const PUBLIC_LINK_SEAL = { purpose: 'key of public links', boundTo: 'deployment' } as const;

type OpenPublicLinkKeyDeps = {
  /** The sealed key; null when there is none yet. */
  find: () => Promise<Uint8Array | null>;
  /** Stores the sealed key unless one is stored. Of several processes the first one wins. */
  store: (sealed: Uint8Array, now: Date) => Promise<void>;
  /** SECRET_KEY. */
  masterKey: string;
  /** SECRET_KEY_PREVIOUS: opens a key that was sealed before SECRET_KEY was changed. */
  previousKey?: string | undefined;
};

/**
 * Opens the key of public links that all processes of a deployment share. It is random and made once, by the first process that
 * needs it, so links outlive every change of SECRET_KEY. It is never replaced: each link that was printed would end. Throws when
 * neither key opens it, with what the operator must do.
 */
export const openPublicLinkKey =
  ({ find, store, ...keys }: OpenPublicLinkKeyDeps) =>
  async (now: Date): Promise<Uint8Array> => {
    const open = (sealed: Uint8Array) => {
      try {
        return Buffer.from(openText({ ...keys, ...PUBLIC_LINK_SEAL }, sealed), 'base64url');
      } catch (cause) {
        if (!(cause instanceof SealedTextError && cause.reason === 'key')) throw cause;
        throw new Error(
          'Neither SECRET_KEY nor SECRET_KEY_PREVIOUS opens the key of public links. Set SECRET_KEY_PREVIOUS to the key that sealed it and run admin secrets reseal.',
          { cause },
        );
      }
    };
    const stored = await find();
    if (stored) return open(stored);
    const made = randomBytes(KEY_BYTES).toString('base64url');
    await store(sealText({ masterKey: keys.masterKey, ...PUBLIC_LINK_SEAL }, made), now);
    const shared = await find();
    if (!shared) throw new Error('the key of public links was not stored');
    return open(shared);
  };
