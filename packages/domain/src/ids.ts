import { fromUUID, TypeID, toUUID, typeidUnboxed } from 'typeid-js';

/** Prefixes of public ids. */
export const ID_PREFIXES = {
  account: 'acc',
  user: 'usr',
  key: 'key',
  request: 'req',
  check: 'chk',
  batch: 'bat',
  line: 'lin',
  watch: 'wat',
  event: 'evt',
  delivery: 'dlv',
  anchor: 'anc',
} as const;
export type IdKind = keyof typeof ID_PREFIXES;

/** A new UUIDv7, as the database and jobs carry ids. */
export const newUuid = (): string => toUUID(typeidUnboxed(''));

/** The public form of a stored id, e.g. `chk_01m7w2…`. */
export const publicId = (kind: IdKind, uuid: string): string => fromUUID(uuid, ID_PREFIXES[kind]);

/** The stored form of a public id; `null` when it is ill-formed or of another kind, which callers answer with 404. */
export const uuidOf = (kind: IdKind, id: string): string | null => {
  const prefix = ID_PREFIXES[kind];
  if (!/^[a-z]{3}_[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(id) || !id.startsWith(`${prefix}_`)) return null;
  try {
    return TypeID.fromString(id, prefix).toUUID();
  } catch {
    // Well-formed, but its bits are no UUID: most likely a made-up id.
    return null;
  }
};
