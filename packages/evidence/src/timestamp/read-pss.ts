import { type BaseBlock, Integer } from 'asn1js';
import type { AlgorithmIdentifier } from 'pkijs';
import { elementsOf, identifierOf, OID } from './object-identifiers.js';

/** The parameters of an RSA-PSS signature. `hash`: the object identifier of the hash function of message and mask. */
type Pss = { hash: string; saltLength: number };

const NULL_TAG = 5;

/** The identifier in an AlgorithmIdentifier without parameters, or null. */
const plainAlgorithm = (block: unknown): string | null => {
  const [identifier, parameters, ...others] = elementsOf(block);
  const isPlain =
    parameters === undefined || (parameters.idBlock.tagClass === 1 && parameters.idBlock.tagNumber === NULL_TAG);
  return isPlain && others.length === 0 ? identifierOf(identifier) : null;
};

const isTagged = (block: BaseBlock, tag: number) => block.idBlock.tagClass === 3 && block.idBlock.tagNumber === tag;

/**
 * The parameters of an RSA-PSS signature. Null for another algorithm, and for parameters that `verify.py` does not support:
 * hash, mask and salt must be explicit, with the same hash function for message and mask. The default is SHA-1, which is not
 * accepted. Source: RFC 4055 §3.1.
 */
export const readPss = ({ algorithmId, algorithmParams }: AlgorithmIdentifier): Pss | null => {
  if (algorithmId !== OID.rsaPss) return null;
  const parts = elementsOf(algorithmParams);
  if (parts.length < 3 || parts.length > 4 || !parts.every(isTagged)) return null;
  const [digest, mask, salt, trailer] = parts.map((part) => elementsOf(part)[0]);
  const [generator, masked] = elementsOf(mask);
  const hash = plainAlgorithm(digest);
  if (hash === null || plainAlgorithm(masked) !== hash || identifierOf(generator) !== OID.maskGeneration1) return null;
  if (!(salt instanceof Integer) || salt.valueBlock.valueHexView.length > 4) return null;
  if (trailer !== undefined && !(trailer instanceof Integer && trailer.valueBlock.valueDec === 1)) return null;
  return { hash, saltLength: salt.valueBlock.valueDec };
};
