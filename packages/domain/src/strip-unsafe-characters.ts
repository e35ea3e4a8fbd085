/**
 * Removes the characters that JSON readers, terminals and hash implementations treat differently: U+007F and lone
 * surrogates.
 */
export const stripUnsafeCharacters = (text: string): string =>
  text.replace(/\u007f/g, '').replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '');
