const POLYNOMIAL = 0xedb8_8320;

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? POLYNOMIAL ^ (value >>> 1) : value >>> 1;
  return value;
});

/** The CRC-32 of a zip archive, continued from that of the bytes before. Node has one, browsers do not. */
export const crc32 = (bytes: Uint8Array, before = 0): number => {
  let crc = ~before;
  for (const byte of bytes) crc = (TABLE[(crc ^ byte) & 0xff] as number) ^ (crc >>> 8);
  return ~crc >>> 0;
};
