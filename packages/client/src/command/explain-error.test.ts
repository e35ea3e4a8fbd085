import { AbandonedError } from '../errors.js';
import type { Request } from '../generated/api-types.js';
import { explainError } from './explain-error.js';

test.each([
  ['UPSTREAM_NO_ANSWER', /check the number again later\.$/],
  ['INVALID_REQUESTER', /again without that requester/],
  ['ACCOUNT_DISABLED', /contact the operator/],
])('what follows %s is said', (reason, remedy) => {
  const text = explainError(new AbandonedError({ id: 'req_1', reason } as Request));
  expect(text).toMatch(/Nothing was charged/);
  expect(text).toMatch(remedy);
});
