import { createTextOpener, type OpeningKeys } from './create-text-opener.js';
import { sealText } from './seal-text.js';
import { SealedTextError } from './sealed-text-error.js';
import { sealingKey } from './sealing-key.js';

/** A sealed text as it is stored, with what it is bound to: an account, a certificate. */
export type SealedRow = { boundTo: string; sealed: Uint8Array };

/** A stored text, and the same text sealed with the current key. */
export type ResealedRow = SealedRow & { resealed: Uint8Array };

/** Where sealed texts of one purpose are stored. */
export type SealedStore = {
  /** Up to `limit` rows after `after` (null: from the first), in the order of `boundTo`. */
  list: (after: string | null, limit: number) => Promise<SealedRow[]>;
  /** Replaces each row that still holds what was read, and returns how many did. */
  replace: (rows: ResealedRow[]) => Promise<number>;
};

/** What one run did: the texts it resealed, and what the ones that no key opens are bound to. */
export type Resealing = { resealed: number; unopened: string[] };

const PAGE = 200;
/** A row that changes during every pass is sealed by processes that still use the previous key: they never finish. */
const MAX_PASSES = 5;

/**
 * Seals every text of a store with the current key. Safe while the service runs: a row that was changed in the meantime is not
 * overwritten but read again, and processes that know both keys open it before and after. A text that the current key sealed
 * is left as it is, so a second run does nothing. Source: contract part 3 §8.
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
