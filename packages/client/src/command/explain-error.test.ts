import { AbandonedError, ApiError } from '../errors.js';
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

test('that a key is shown only when it is created is said with one that is refused', () => {
  const refused = new ApiError({
    ...{ status: 401, code: 'UNAUTHORIZED', message: 'The API key is unknown.', fields: {}, requestId: null },
  });
  expect(explainError(refused)).toMatch(/shown only once.*create a new one on the dashboard under Settings\.$/);
});
