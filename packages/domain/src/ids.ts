import { fromString, toUUID, typeidUnboxed } from 'typeid-js';

/** Prefixes of public ids. Source: contract part 2 §1. */
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

/** A new UUIDv7 in its public form, e.g. `chk_01m7w2…`. */
export const newId = (kind: IdKind): string => typeidUnboxed(ID_PREFIXES[kind]);

/** A new UUIDv7 as the database stores it. */
export const newUuid = (): string => toUUID(typeidUnboxed('x'));
