import { readFileSync } from 'node:fs';
import { readSamples } from './read-samples.js';

test('the guide contains a complete receiver for each language', () => {
  const samples = readSamples(readFileSync(new URL('../../../../../docs/webhooks.md', import.meta.url), 'utf8'));
  expect(samples.map(({ name }) => name)).toEqual([
    'TypeScript, with the package',
    'TypeScript, without the package',
    'Python',
    'PHP',
    'Go',
    'Java',
    'With a Standard Webhooks library',
  ]);
  for (const { code } of samples) expect(code).toMatch(/verify|secret/i);
});
