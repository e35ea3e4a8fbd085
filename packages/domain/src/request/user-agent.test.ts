import { userAgentOf } from './lookup.js';

test('names the service, and whom to write to where that is known', () => {
  expect(userAgentOf()).toBe('vat-validation-service');
  expect(userAgentOf('https://example.com/contact')).toBe('vat-validation-service (+https://example.com/contact)');
  expect(userAgentOf('mailto:ops@example.com')).toBe('vat-validation-service (+mailto:ops@example.com)');
});

test('is a header whatever the address is made of', () => {
  expect(userAgentOf('https://bücher.example/\u4f60 x')).toMatch(/^[\x20-\x7e]+$/);
});
