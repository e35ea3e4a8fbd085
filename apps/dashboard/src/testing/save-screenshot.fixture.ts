import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

/** Screenshots are for manual review and stored by CI; no test compares them. */
const DIRECTORY = fileURLToPath(new URL('../../../../.artifacts/dashboard', import.meta.url));

/** Saves a full-page screenshot for manual review. */
export const saveScreenshot = async (page: Page, name: string): Promise<void> => {
  mkdirSync(DIRECTORY, { recursive: true });
  await page.screenshot({ path: path.join(DIRECTORY, `${name}.jpg`), type: 'jpeg', quality: 70, fullPage: true });
};
