import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** What axe-core finds serious or critical on the page as it stands: rule and element. */
export const seriousFindings = async (page: Page): Promise<string[]> => {
  // Through the debugger, which the policy of the pages does not concern.
  await page.evaluate(axe.source);
  const violations = (await page.evaluate(
    "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)",
  )) as axe.Result[];
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
};
