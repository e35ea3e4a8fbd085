// @ts-check
import path from 'node:path';

/** Sources that are shipped: `apps/api/src/routes/checks.ts`. */
const SOURCE = /^((?:apps|packages)\/[^/]+\/src)\/.+\.tsx?$/;
const IMPORT = /\bfrom '(\.[^']+)'/g;

/** Nothing but tests reads its files. */
const EXEMPT = 'packages/testkit/src';

/**
 * Finds folders below the same `src` that import each other both ways. What composes a program, or is shared by its folders, is
 * in `src` itself, which may import all of them and be imported by all.
 *
 * @param {Readonly<Record<string, string>>} texts path of a file → its text; others than sources are ignored
 * @returns {string[]} one line for each pair, with an import of each direction
 */
export const findMutualImports = (texts) => {
  /** @type {Map<string, string>} `from > to` → the file that imports */
  const imports = new Map();
  for (const [file, text] of Object.entries(texts)) {
    const top = SOURCE.exec(file)?.[1];
    if (!top || top === EXEMPT || /\.(test|fixture)\.tsx?$|\/generated\//.test(file)) continue;
    const from = path.dirname(file);
    for (const [, specifier = ''] of text.matchAll(IMPORT)) {
      const to = path.dirname(path.join(from, specifier));
      if (to !== from && from !== top && to.startsWith(`${top}/`)) imports.set(`${from} > ${to}`, file);
    }
  }
  return [...imports].flatMap(([pair, file]) => {
    const [from = '', to = ''] = pair.split(' > ');
    const other = imports.get(`${to} > ${from}`);
    return from < to && other ? [`${from} and ${to} import each other: ${file}, ${other}`] : [];
  });
};
