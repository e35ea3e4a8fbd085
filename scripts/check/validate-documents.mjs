// @ts-check

/** Files that documents name, in back quotes and from the top folder on. Patterns such as `scripts/*.mjs` are not names. */
const NAMED_FILES = /`((?:apps|bench|deploy|docs|packages|prisma|scripts)\/[^`\s*{}]+\.[a-z]+)`/g;
/** A table row with its three cells: attack, defence, test. */
const ROW = /^\| (?!attack |---)([^|]+) \| ([^|]+) \| ([^|]+) \|$/;
/** Sections of docs/security.md whose tables do not list attacks. */
const OTHER_SECTIONS = new Set(['What is protected', 'Not defended against']);

/**
 * The files that a document names and the project does not have, one line each.
 *
 * @param {string} name of the document
 * @param {string} text
 * @param {(file: string) => boolean} exists whether the project has this file
 * @returns {string[]}
 */
export const findMissingFiles = (name, text, exists) =>
  text.split('\n').flatMap((line, at) =>
    [...line.matchAll(NAMED_FILES)]
      .map(([, file]) => String(file))
      .filter((file) => !exists(file))
      .map((file) => `${name}:${at + 1}  ${file} does not exist`),
  );

/**
 * The attacks of docs/security.md that no test shows, one line each.
 *
 * @param {string} text
 * @returns {string[]}
 */
export const findUntestedAttacks = (text) => {
  const problems = [];
  let section = '';
  for (const [at, line] of text.split('\n').entries()) {
    section = /^## (.+)$/.exec(line)?.[1] ?? section;
    const [, attack, , tests = ''] = ROW.exec(line) ?? [];
    if (attack === undefined || OTHER_SECTIONS.has(section)) continue;
    if (!/`[^`]+\.test\.tsx?`/.test(tests)) problems.push(`docs/security.md:${at + 1}  no test for: ${attack}`);
  }
  return problems;
};

/**
 * The tables of a Prisma schema for which "Data that grows" of docs/operations.md does not say how long their rows are stored.
 *
 * @param {string} schema
 * @param {string} guide
 * @returns {string[]}
 */
export const findUnlistedTables = (schema, guide) => {
  const [, section = ''] = guide.split('\n## Data that grows\n');
  const rows = (section.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('| `'));
  const listed = new Set(
    rows.flatMap((row) => [...String(row.split(' | ')[0]).matchAll(/`(\w+)`/g)].map(([, name]) => name)),
  );
  return [...schema.matchAll(/@@map\("(\w+)"\)/g)]
    .map(([, table]) => String(table))
    .filter((table) => !listed.has(table));
};
