import { hexToBytes } from '@vat/evidence/portable';

/** The result of one verification step. */
export type Finding = { holds: boolean; text: string };

/** No bytes if the text is not hex, which no proof accepts. */
export const bytesOf = (hex: string): Uint8Array =>
  /^(?:[0-9a-f]{2})*$/i.test(hex) ? hexToBytes(hex) : new Uint8Array();
