// @ts-check

/** A table row with its three cells: attack, defence, test. */
const ROW = /^\| (?!attack |---)([^|]+) \| ([^|]+) \| ([^|]+) \|$/;
/** Sections whose tables do not list attacks. */
const OTHER_SECTIONS = new Set(['What is protected', 'Not defended against']);

/**
 * The problems of docs/security.md, one line each: a row without a test, or a file name that does not exist.
 *
 * @param {string} document
 * @param {(file: string) => boolean} exists whether the project has this file
 * @returns {string[]}
 */
export const validateSecurity = (document, exists) => {
  const problems = [];
  let section = '';
  for (const [at, line] of document.split('\n').entries()) {
    section = /^## (.+)$/.exec(line)?.[1] ?? section;
    const files = [...line.matchAll(/`([^`\s]+\/[^`\s]+\.[a-z]+)`/g)].map(([, file]) => String(file));
    for (const file of files.filter((name) => !exists(name))) {
      problems.push(`docs/security.md:${at + 1}  ${file} does not exist`);
    }
    const [, attack, , tests = ''] = ROW.exec(line) ?? [];
    if (attack === undefined || OTHER_SECTIONS.has(section)) continue;
    if (!/`[^`]+\.test\.tsx?`/.test(tests)) problems.push(`docs/security.md:${at + 1}  no test for: ${attack}`);
  }
  return problems;
};
