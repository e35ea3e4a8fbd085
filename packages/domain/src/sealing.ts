import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, randomBytes } from 'node:crypto';

/** A key that seals texts: the AES-256 key, and the header (format byte, 4 bytes of key id) of the texts it seals. */
type SealingKey = { key: Buffer; header: Buffer };

/** The purpose of a sealed text. Each purpose has its own key. */
type SealedPurpose = 'webhook secret' | 'development authority' | 'key of public links';

const FORMAT = 1;

/**
 * Derives key and key id from SECRET_KEY by HKDF-SHA-256 under separate labels: the master key can serve sessions too, and
 * the key id, which is stored in plain text, reveals nothing about the key.
 */
const sealingKey = (masterKey: string, purpose: SealedPurpose): SealingKey => {
  const derive = (label: string, bytes: number) => Buffer.from(hkdfSync('sha256', masterKey, '', label, bytes));
  return {
    key: derive(`vat ${purpose}: key 1`, 32),
    header: Buffer.concat([Buffer.of(FORMAT), derive(`vat ${purpose}: key id 1`, 4)]),
  };
};

/**
 * Thrown when a sealed text does not open. `reason`: `format` (not a sealed text), `key` (sealed under another SECRET_KEY)
 * or `integrity` (damaged, or bound to something else).
 */
export class SealedTextError extends Error {
  override readonly name = 'SealedTextError';

  constructor(
    purpose: SealedPurpose,
    readonly reason: 'format' | 'key' | 'integrity',
  ) {
    super(`The sealed ${purpose} does not open (${reason}).`);
  }
}

const NONCE_AT = 5;
const TAG_AT = 17;
const TEXT_AT = 33;

/** The keys that open sealed texts: SECRET_KEY, and SECRET_KEY_PREVIOUS for texts sealed before the change. */
type OpeningKeys = { masterKey: string; previousKey?: string | undefined; purpose: SealedPurpose };

/** The text that `sealText` sealed for this. Throws SealedTextError when it does not open. */
export type OpenSealed = (boundTo: string, sealed: Uint8Array) => string;

/** Opens many texts with keys that are derived once. The key id in front of a text identifies its key. */
export const createTextOpener = ({ masterKey, previousKey, purpose }: OpeningKeys): OpenSealed => {
  const keys = [masterKey, previousKey]
    .filter((key) => key !== undefined)
    .map((key) => sealingKey(key, purpose))
    .map(({ header, key }) => ({ header, key: createSecretKey(key) }));
  return (boundTo, sealed) => {
    const bytes = Buffer.from(sealed);
    if (bytes.length <= TEXT_AT || bytes[0] !== keys[0]?.header[0]) throw new SealedTextError(purpose, 'format');
    const used = keys.find(({ header }) => bytes.subarray(0, NONCE_AT).equals(header));
    if (!used) throw new SealedTextError(purpose, 'key');

    const decipher = createDecipheriv('aes-256-gcm', used.key, bytes.subarray(NONCE_AT, TAG_AT), { authTagLength: 16 })
      .setAAD(Buffer.concat([used.header, Buffer.from(boundTo)]))
      .setAuthTag(bytes.subarray(TAG_AT, TEXT_AT));
    try {
      return decipher.update(bytes.subarray(TEXT_AT), undefined, 'utf8') + decipher.final('utf8');
    } catch {
      throw new SealedTextError(purpose, 'integrity');
    }
  };
};

/** Opens one text; see {@link createTextOpener}. Throws SealedTextError when it does not open. */
export const openText = ({ boundTo, ...keys }: OpeningKeys & { boundTo: string }, sealed: Uint8Array): string =>
  createTextOpener(keys)(boundTo, sealed);

/** How a text is sealed: SECRET_KEY, the purpose, and what it is bound to (such as an account) and opens for. */
export type Seal = { masterKey: string; purpose: SealedPurpose; boundTo: string };

/** A text as it is stored: format (1 byte), key id (4), nonce (12), tag (16), AES-256-GCM ciphertext. */
export const sealText = ({ masterKey, purpose, boundTo }: Seal, text: string): Buffer => {
  const { key, header } = sealingKey(masterKey, purpose);
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.concat([header, Buffer.from(boundTo)]));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([header, nonce, cipher.getAuthTag(), sealed]);
};

/** A sealed text as stored, with what it is bound to: an account, a certificate. */
type SealedRow = { boundTo: string; sealed: Uint8Array };

/** A stored text, and the same text sealed with the current key. */
export type ResealedRow = SealedRow & { resealed: Uint8Array };

/** Where sealed texts of one purpose are stored. */
export type SealedStore = {
  /** Up to `limit` rows after `after` (null: from the first), in the order of `boundTo`. */
  list: (after: string | null, limit: number) => Promise<SealedRow[]>;
  /** Replaces each row that is unchanged since it was read, and returns how many were. */
  replace: (rows: ResealedRow[]) => Promise<number>;
};

/** The result of one run: how many texts were resealed, and what the texts that no key opens are bound to. */
type Resealing = { resealed: number; unopened: string[] };

const PAGE = 200;
/** Bounds the passes: a row that changes during every pass is sealed by processes that still use the previous key. */
const MAX_PASSES = 5;

/**
 * Seals every text of a store with the current key. Safe while the service runs: a row that was changed in the meantime is not
 * overwritten but read again, and processes that know both keys open it before and after. A text that the current key sealed
 * is left as it is, so a second run does nothing.
 */
export const resealSecrets = async (keys: OpeningKeys, store: SealedStore): Promise<Resealing> => {
  const { masterKey, purpose } = keys;
  const open = createTextOpener(keys);
  const { header } = sealingKey(masterKey, purpose);
  const isCurrent = ({ sealed }: SealedRow) => Buffer.from(sealed).subarray(0, header.length).equals(header);

  const resealRow = (row: SealedRow): ResealedRow | null => {
    try {
      const text = open(row.boundTo, row.sealed);
      return { ...row, resealed: sealText({ masterKey, purpose, boundTo: row.boundTo }, text) };
    } catch (error) {
      if (error instanceof SealedTextError) return null;
      throw error;
    }
  };

  /** Every row once; `missed` counts those that changed between reading and writing. */
  const pass = async (): Promise<Resealing & { missed: number }> => {
    const total = { resealed: 0, missed: 0, unopened: [] as string[] };
    for (let after: string | null = null; ; ) {
      const rows: SealedRow[] = await store.list(after, PAGE);
      const outdated = rows.filter((row) => !isCurrent(row));
      const fresh = outdated.map(resealRow).filter((row) => row !== null);
      const replaced = fresh.length === 0 ? 0 : await store.replace(fresh);
      total.resealed += replaced;
      total.missed += fresh.length - replaced;
      const opened = new Set(fresh.map(({ boundTo }) => boundTo));
      total.unopened.push(...outdated.map(({ boundTo }) => boundTo).filter((boundTo) => !opened.has(boundTo)));
      after = rows.at(-1)?.boundTo ?? null;
      if (rows.length < PAGE) return total;
    }
  };

  let resealed = 0;
  for (let number = 1; ; number += 1) {
    const done = await pass();
    resealed += done.resealed;
    if (done.missed === 0 || number === MAX_PASSES) return { resealed, unopened: done.unopened };
  }
};
