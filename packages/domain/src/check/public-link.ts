import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { publicId, type StoredId, uuidOf } from '../ids.js';

/** 144 bits. A multiple of three bytes, so that each token has exactly one spelling in base64url. */
const TOKEN_BYTES = 18;
const FORM = /^(chk_[0-9a-z]{26})\.([A-Za-z0-9_-]{24})$/;

/** Makes and reads the links of the public pages that show and verify one check. */
export type PublicLinks = {
  /** The path of the public page of a check: `/verify/<check id>.<token>`. */
  pathOf: (checkId: StoredId<'check'>) => string;
  /** The check of the last part of such a path. `null` when it is ill-formed or its token is not that of the check. */
  checkOf: (link: string) => StoredId<'check'> | null;
};

/**
 * The token of a check is an HMAC-SHA256 of its id, so it need not be stored: whoever has it received the link, and it opens no
 * other check. Its key is derived from SECRET_KEY by HKDF-SHA-256 under its own label. Links made with `previousKey`
 * (SECRET_KEY_PREVIOUS) are accepted too.
 */
export const publicLinks = (masterKey: string, previousKey?: string): PublicLinks => {
  const keyOf = (secret: string) => Buffer.from(hkdfSync('sha256', secret, '', 'vat public link: key 1', 32));
  const current = keyOf(masterKey);
  const keys = [current, ...(previousKey === undefined ? [] : [keyOf(previousKey)])];
  const tokenOf = (key: Buffer, checkId: StoredId<'check'>) =>
    createHmac('sha256', key).update(checkId).digest().subarray(0, TOKEN_BYTES);
  return {
    pathOf: (checkId) => `/verify/${publicId('check', checkId)}.${tokenOf(current, checkId).toString('base64url')}`,
    checkOf: (link) => {
      const [, id = '', token = ''] = FORM.exec(link) ?? [];
      const checkId = uuidOf('check', id);
      if (checkId === null) return null;
      const given = Buffer.from(token, 'base64url');
      // Every key is tried, so that the duration does not depend on which one fits.
      const fits = keys.map((key) => timingSafeEqual(tokenOf(key, checkId), given));
      return fits.includes(true) ? checkId : null;
    },
  };
};
