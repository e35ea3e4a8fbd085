// @ts-check
// `node scripts/docs.mjs` generates docs from the code; with `--check` it fails if one of them is outdated.
// `npm run check` runs it after the build.
import { readFileSync, writeFileSync } from 'node:fs';
import { errorsPage } from './docs/errors-page.mjs';
import { settingsPage } from './docs/settings-page.mjs';

/** @type {Record<string, () => Promise<string>>} */
const PAGES = { 'docs/settings.md': settingsPage, 'docs/errors.md': errorsPage };

/** @param {string} file */
const read = (file) => {
  try {
    return readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
  } catch {
    return '';
  }
};

const outdated = [];
for (const [file, page] of Object.entries(PAGES)) {
  const text = await page();
  if (read(file) === text) continue;
  outdated.push(file);
  if (!process.argv.includes('--check')) writeFileSync(new URL(`../${file}`, import.meta.url), text);
}

if (outdated.length > 0 && process.argv.includes('--check')) {
  console.error(`${outdated.join(' and ')} differ from the code. Run \`node scripts/docs.mjs\`.`);
  process.exitCode = 1;
}
