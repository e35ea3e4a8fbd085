import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Result } from 'axe-core';
import type { Page } from 'playwright-core';

/** Half the size of the source that the package itself offers. Every page compiles it again, which takes longer than the rules. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Serious and critical violations that axe-core finds on the current page: rule and element. */
export const seriousFindings = async (page: Page): Promise<string[]> => {
  // `evaluate` is not subject to the content security policy of the page.
  await page.evaluate(AXE);
  // The elements are reported by their text; their selectors would take a sixth of the time.
  const violations = (await page.evaluate(
    "axe.run({ resultTypes: ['violations'], selectors: false }).then(({ violations }) => violations)",
  )) as Result[];
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
};
