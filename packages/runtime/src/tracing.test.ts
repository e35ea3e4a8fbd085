import { openTracing } from './open-tracing.js';
import { tracesUrl } from './otlp-tracing.js';
import { traceFields } from './tracing.js';

test('without an endpoint there are no traces', async () => {
  expect(await openTracing(undefined, { service: 'vat-api', log: { warn: () => undefined } })).toBeNull();
  expect(traceFields(undefined)).toEqual({});
});

test.each([
  ['http://collector:4318', 'http://collector:4318/v1/traces'],
  ['http://collector:4318/', 'http://collector:4318/v1/traces'],
  ['https://otlp.example.com/tenant/7/', 'https://otlp.example.com/tenant/7/v1/traces'],
])('traces for %s are sent to %s', (endpoint, url) => {
  expect(tracesUrl(endpoint)).toBe(url);
});
