import { createTextOpener, type OpeningKeys } from './create-text-opener.js';

/** Opens one text; see {@link createTextOpener}. Throws SealedTextError when it does not open. */
export const openText = ({ boundTo, ...keys }: OpeningKeys & { boundTo: string }, sealed: Uint8Array): string =>
  createTextOpener(keys)(boundTo, sealed);
