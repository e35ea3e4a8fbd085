import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

/** Looked at by people, and kept by CI; no test compares them. */
const PICTURES = fileURLToPath(new URL('../../../../.artifacts/dashboard', import.meta.url));

/** Keeps a picture of the page for people to look at. */
export const saveScreenshot = async (page: Page, name: string): Promise<void> => {
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: path.join(PICTURES, `${name}.jpg`), type: 'jpeg', quality: 70, fullPage: true });
};
