import { BaseBlock, Constructed, type Integer, ObjectIdentifier, OctetString } from 'asn1js';

/** The elements of a sequence or set; none for anything else. */
export const elementsOf = (block: unknown): BaseBlock[] =>
  block instanceof Constructed ? block.valueBlock.value.filter((inner) => inner instanceof BaseBlock) : [];

/** The bytes of an octet string, or null for anything else. */
export const octetsOf = (block: unknown): Buffer | null =>
  block instanceof OctetString ? Buffer.from(block.getValue()) : null;

/** The dotted form of an object identifier, or null for anything else. */
export const identifierOf = (block: unknown): string | null =>
  block instanceof ObjectIdentifier ? block.valueBlock.toString() : null;

/** An INTEGER of any length in lower-case hex without leading zero bytes: serials and nonces are larger than a number holds. */
export const hexOf = (integer: Integer): string =>
  Buffer.from(integer.valueBlock.valueHexView)
    .toString('hex')
    .replace(/^(00)+(?=.)/, '');

/** The bytes of a block as they came, tag and length included. */
export const bytesOf = (block: BaseBlock): Buffer => Buffer.from(block.valueBeforeDecodeView);
