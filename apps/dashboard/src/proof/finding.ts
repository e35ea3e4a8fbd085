import { hexToBytes } from '@vat/evidence/portable';

/** The result of one verification step. */
export type Finding = { holds: boolean; text: string };

/** Whether the computed SHA-256 of bytes is the recorded one. `what`: the bytes. */
export const compareHashes = (what: string, computed: string, recorded: string): Finding => {
  const sentence = `The SHA-256 of ${what}, computed in this browser, is ${computed}`;
  return computed === recorded
    ? { holds: true, text: `${sentence}.` }
    : { holds: false, text: `${sentence}, but the recorded hash is ${recorded}.` };
};

/** No bytes if the text is not hex, which no proof accepts. */
export const bytesOf = (hex: string): Uint8Array =>
  /^(?:[0-9a-f]{2})*$/i.test(hex) ? hexToBytes(hex) : new Uint8Array();
