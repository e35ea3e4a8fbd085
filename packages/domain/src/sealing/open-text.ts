import { createTextOpener } from './create-text-opener.js';
import type { Seal } from './seal-text.js';

/** Opens one text; see {@link createTextOpener}. Throws SealedTextError when it does not open. */
export const openText = ({ boundTo, ...seal }: Seal, sealed: Uint8Array): string =>
  createTextOpener(seal)(boundTo, sealed);
