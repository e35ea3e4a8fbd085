import { createHash } from 'node:crypto';
import type { Anchor } from './anchor.js';
import { encodeAnchor } from './encode-anchor.js';

/** The SHA-256 of an anchor's JCS form, 64 hex digits: the next anchor's `prev_anchor_hash`. Throws when it is no anchor. */
export const hashAnchor = (anchor: Anchor): string => createHash('sha256').update(encodeAnchor(anchor)).digest('hex');
