import { countBreaks } from './count-breaks.js';

/** The line that a byte of a file stands on, 1-based, in any encoding in which line breaks are single bytes. */
export const lineAt = (bytes: Uint8Array, at: number): number =>
  countBreaks(new TextDecoder('latin1').decode(bytes.subarray(0, at))) + 1;
