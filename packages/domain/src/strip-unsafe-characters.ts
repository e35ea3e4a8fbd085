/**
 * Characters that JSON readers, terminals and hash implementations disagree on are removed at the edge: U+007F and lone
 * surrogates (contract part 2 §4).
 */
export const stripUnsafeCharacters = (text: string): string =>
  text.replace(/\u007f/g, '').replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '');
