import type { ReadBlock } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { readBlocks } from './read-blocks.js';

/** Reads one block of an anchor's tree; empty when there is none. Level 0: the leaves themselves. */
export const readBlock =
  (db: Queryable): ReadBlock =>
  async (block) =>
    (await readBlocks(db)([block]))[0] ?? new Uint8Array();
