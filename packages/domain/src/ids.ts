import { fromUUID, TypeID, toUUID, typeidUnboxed } from 'typeid-js';

export const ID_PREFIXES = {
  account: 'acc',
  user: 'usr',
  invitation: 'inv',
  key: 'key',
  request: 'req',
  check: 'chk',
  batch: 'bat',
  line: 'lin',
  coverage: 'cov',
  watch: 'wat',
  event: 'evt',
  delivery: 'dlv',
  resend: 'rsd',
  anchor: 'anc',
} as const;
export type IdKind = keyof typeof ID_PREFIXES;

declare const publicKind: unique symbol;
declare const storedKind: unique symbol;

/** An id as callers know it, such as `chk_01m7w2…`. Only {@link publicId} and the schemas of the API make one. */
export type PublicId<Kind extends IdKind = IdKind> = string & { readonly [publicKind]: Kind };

/** The UUID of a stored row of one kind. */
export type StoredId<Kind extends IdKind = IdKind> = string & { readonly [storedKind]: Kind };

/** A UUID whose kind is known or not stated: anything but a public id or the id of another kind. */
type IdOfRow<Kind extends IdKind> = string & {
  readonly length: number;
  readonly [storedKind]?: Kind;
  readonly [publicKind]?: never;
};

/**
 * A new UUIDv7, as the database and jobs carry ids. Its time is that of the machine's own clock, which may be wrong: rows that are
 * ordered, found or partitioned by the time in their id get one of {@link newUuidAt}.
 */
export const newUuid = (): string => toUUID(typeidUnboxed(''));

/** The first twelve digits of a UUIDv7, which are its time in milliseconds. Source: RFC 9562 §5.7. */
const TIME_DIGITS = 12;

/** A new UUIDv7 of a point in time, in its place among the ids of that time. */
export const newUuidAt = (at: Date): string => {
  const time = Math.max(0, at.getTime()).toString(16).padStart(TIME_DIGITS, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}${newUuid().slice(TIME_DIGITS + 1)}`;
};

/** Ids that differ in nothing but the digits between time and random part. */
const IDS_IN_MILLISECOND = 0x1000;

/** New UUIDv7s of a point in time, each of them above the one before. */
export const uuidsAt = (at: Date): (() => string) => {
  let count = 0;
  return () => {
    const [ms, place] = [Math.floor(count / IDS_IN_MILLISECOND), count % IDS_IN_MILLISECOND];
    count += 1;
    const id = newUuidAt(new Date(at.getTime() + ms));
    return `${id.slice(0, 15)}${place.toString(16).padStart(3, '0')}${id.slice(18)}`;
  };
};

/** The public form of a stored id, e.g. `chk_01m7w2…`. */
export const publicId = <Kind extends IdKind>(kind: Kind, uuid: IdOfRow<NoInfer<Kind>>): PublicId<Kind> =>
  fromUUID(uuid, ID_PREFIXES[kind]) as string as PublicId<Kind>;

/** The stored form of a public id; `null` when it is ill-formed or of another kind, which callers answer with 404. */
export const uuidOf = <Kind extends IdKind>(kind: Kind, id: string): StoredId<Kind> | null => {
  const prefix = ID_PREFIXES[kind];
  if (!/^[a-z]{3}_[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(id) || !id.startsWith(`${prefix}_`)) return null;
  try {
    return TypeID.fromString(id, prefix).toUUID() as string as StoredId<Kind>;
  } catch {
    // Well-formed, but its bits are no UUID: most likely a made-up id.
    return null;
  }
};
