/**
 * What remains of a name when case, accents, spaces and punctuation do not count: `N° T.V.A.` → `ntva`, `Země` → `zeme`,
 * `ΑΦΜ` → `αφμ`. Names are equal when their folds are.
 */
export const foldName = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')
    // Lower case gives a Greek sigma its final form or not, depending on what follows.
    .replaceAll('ς', 'σ');
