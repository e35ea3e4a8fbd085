import { deriveBaseUrl } from './derive-base-url.js';

test.each([
  ['127.0.0.1', 'http://127.0.0.1:3000'],
  ['vat.internal', 'http://vat.internal:3000'],
  ['0.0.0.0', 'http://127.0.0.1:3000'],
  ['::', 'http://[::1]:3000'],
  ['::1', 'http://[::1]:3000'],
  ['fd00::5', 'http://[fd00::5]:3000'],
])('HOST=%s is called at %s', (HOST, url) => {
  expect(deriveBaseUrl({ HOST, PORT: 3000 })).toBe(url);
  expect(new URL(url).origin).toBe(url);
});

test('BASE_URL takes precedence, without its trailing slash', () => {
  expect(deriveBaseUrl({ BASE_URL: 'https://vat.example.com/', HOST: '::', PORT: 3000 })).toBe(
    'https://vat.example.com',
  );
});
