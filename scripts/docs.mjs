// @ts-check
// The docs that are made from the code: `node scripts/docs.mjs` writes them, `--check` fails when one has drifted.
// Run by `npm run check`, after the build.
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

const drifted = [];
for (const [file, page] of Object.entries(PAGES)) {
  const text = await page();
  if (read(file) === text) continue;
  drifted.push(file);
  if (!process.argv.includes('--check')) writeFileSync(new URL(`../${file}`, import.meta.url), text);
}

if (drifted.length > 0 && process.argv.includes('--check')) {
  console.error(`${drifted.join(' and ')} no longer say what the code says; run \`node scripts/docs.mjs\`.`);
  process.exitCode = 1;
}
