import type { Demo } from './seed-demo.js';

/** What is printed when everything is up: addresses, the demo sign-in, its keys, and a call to try. */
export const describeStack = (baseUrl: string, demo: Demo | null): string => {
  const account = demo
    ? [
        `  Sign in     ${demo.email} / ${demo.password}`,
        `  Live key    ${demo.live_key}   (asks VIES)`,
        `  Test key    ${demo.test_key}   (answered by the sandbox)`,
        '',
        '  Try it:',
        `  curl -sS ${baseUrl}/v1/checks -H 'Authorization: Bearer ${demo.test_key}' -H 'Content-Type: application/json' -d '{"vat_number":"DE100"}'`,
      ]
    : ['  No demo account here. Make one: npm run --silent admin -- account create --name N --email E --password -'];
  return [
    '',
    'The VAT Validation Service is ready.',
    '',
    `  Dashboard   ${baseUrl}/app`,
    `  API         ${baseUrl}/v1`,
    `  Docs        ${baseUrl}/docs`,
    ...account,
    '',
    '  Ctrl-C ends everything.',
    '',
  ].join('\n');
};
