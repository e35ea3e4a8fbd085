import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** Serious and critical violations that axe-core finds on the current page: rule and element. */
export const seriousFindings = async (page: Page): Promise<string[]> => {
  // `evaluate` is not subject to the content security policy of the page.
  await page.evaluate(axe.source);
  const violations = (await page.evaluate(
    "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)",
  )) as axe.Result[];
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
};
