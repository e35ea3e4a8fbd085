import type { LookupSubject } from '@vat/domain';
import { classifyAnswer } from './classify-answer.js';

const LOOKUP: LookupSubject = {
  memberState: 'CZ',
  national: '45274649',
  requester: { memberState: 'PL', national: '8992790965' },
  trader: { name: 'CEZ' },
};

const wrapped = (...errorWrappers: unknown[]) => ({ actionSucceed: false, errorWrappers });
const page = (userError: string) => ({
  isValid: false,
  requestDate: '2023-04-24T13:23:08.683Z',
  userError,
  name: '---',
  address: '---',
  requestIdentifier: '',
  vatNumber: '45274649',
  viesApproximate: { name: '---', matchName: 3 },
});
const UNMATCHED = Object.fromEntries(
  ['Name', 'Street', 'PostalCode', 'City', 'CompanyType'].flatMap((part) => [
    [`trader${part}`, '---'],
    [`trader${part}Match`, 'NOT_PROCESSED'],
  ]),
);

const valid = { kind: 'verdict', valid: true };
const invalid = { kind: 'verdict', valid: false };
const rejected = (code: string, upstreamCode?: string) => ({
  kind: 'rejected',
  code,
  ...(upstreamCode === undefined ? {} : { upstreamCode }),
});
const none = (outcome: string, code: string | null) => ({ kind: 'no_answer', outcome, code });

type Recorded = [when: string, what: string, status: number, body: unknown, means: unknown];

/**
 * Replies of VIES that independent clients recorded, with the year of the recording. Only numbers and names are
 * changed.
 */
const RECORDED: Recorded[] = [
  [
    '2022',
    'a valid number, before traders were matched',
    200,
    {
      countryCode: 'CZ',
      vatNumber: '45274649',
      requestDate: '2022-12-05T09:11:12.345Z',
      valid: true,
      requestIdentifier: '',
      name: 'ACME, a. s.',
      address: 'Duhová 1444/2\nPRAHA 4 - MICHLE\n140 00  PRAHA 4',
    },
    valid,
  ],
  [
    '2026',
    'a valid number with every field of a trader',
    200,
    {
      countryCode: 'CZ',
      vatNumber: '45274649',
      requestDate: '2026-10-03T21:02:05.123Z',
      valid: true,
      requestIdentifier: 'WAPIAAAAaEDkvhHx',
      name: 'ACME, a. s.',
      address: 'Duhová 1444/2',
      ...UNMATCHED,
    },
    valid,
  ],
  [
    '2024',
    'an invalid number',
    200,
    {
      countryCode: 'CZ',
      vatNumber: '45274649',
      requestDate: '2024-02-01T10:00:00.000Z',
      valid: false,
      requestIdentifier: '',
      name: '---',
      address: '---',
      ...UNMATCHED,
    },
    invalid,
  ],
  [
    '2025',
    'an invalid number with additional success fields',
    200,
    {
      actionSucceed: true,
      countryCode: 'CZ',
      vatNumber: '45274649',
      valid: false,
      name: '---',
      address: '---',
    },
    invalid,
  ],
  [
    '2024',
    'a valid number whose register is closed, with blanks for text',
    200,
    {
      countryCode: 'CZ',
      vatNumber: '45274649',
      valid: true,
      requestIdentifier: '',
      name: '',
      address: '',
    },
    valid,
  ],

  [
    '2025',
    'a busy member state, over several lines',
    200,
    '{\n  "actionSucceed" : false,\n  "errorWrappers" : [ {\n    "error" : "MS_MAX_CONCURRENT_REQ"\n  } ]\n}\n',
    none('saturated', 'MS_MAX_CONCURRENT_REQ'),
  ],
  [
    '2025',
    'an unavailable member state',
    200,
    wrapped({ error: 'MS_UNAVAILABLE' }),
    none('unavailable', 'MS_UNAVAILABLE'),
  ],
  [
    '2026',
    'the service is unavailable',
    200,
    wrapped({ error: 'SERVICE_UNAVAILABLE' }),
    none('unavailable', 'SERVICE_UNAVAILABLE'),
  ],
  [
    '2024',
    'a time-out of a member state',
    200,
    wrapped({ error: 'TIMEOUT', message: 'The Member State service did not answer in the expected time.' }),
    none('timeout', 'TIMEOUT'),
  ],
  [
    '2023',
    'everything busy',
    200,
    wrapped({ error: 'GLOBAL_MAX_CONCURRENT_REQ_TIME' }),
    none('saturated', 'GLOBAL_MAX_CONCURRENT_REQ'),
  ],
  ['2023', 'a blocked address, in the format of the pages', 200, page('IP_BLOCKED'), none('blocked', 'IP_BLOCKED')],
  [
    '2026',
    'a busy member state, in the format of the pages',
    200,
    page('MS_MAX_CONCURRENT_REQ'),
    none('saturated', 'MS_MAX_CONCURRENT_REQ'),
  ],
  [
    '2026',
    'a malformed number, in the format of the pages: beside a false without meaning',
    200,
    page('INVALID_INPUT'),
    none('unavailable', 'INVALID_INPUT'),
  ],
  [
    '2026',
    'a valid number, in the format of the pages: not the field that this service reads',
    200,
    { ...page('VALID'), isValid: true },
    none('unavailable', null),
  ],
  ['2025', 'a number that is blocked', 200, wrapped({ error: 'VAT_BLOCKED' }), none('blocked', 'VAT_BLOCKED')],

  ['2022', 'data that are refused', 200, wrapped({ error: 'INVALID_INPUT' }), rejected('INVALID_INPUT')],
  [
    '2025',
    'refused data, with a message',
    200,
    wrapped({ error: 'INVALID_INPUT', message: 'Some data are invalid in the request' }),
    rejected('INVALID_INPUT'),
  ],
  [
    '2025',
    'refused data, with another message',
    200,
    wrapped({ error: 'INVALID_INPUT', message: 'Invalid country code or VAT number format' }),
    rejected('INVALID_INPUT'),
  ],
  ['2026', 'data that are refused under 400', 400, wrapped({ error: 'INVALID_INPUT' }), rejected('INVALID_INPUT')],
  [
    '2026',
    'a requester with its prefix',
    200,
    wrapped({ error: 'INVALID_REQUESTER_INFO' }),
    rejected('INVALID_REQUESTER_INFO'),
  ],

  [
    '2024',
    'a number that does not match the pattern, as a server error',
    500,
    wrapped({
      error: 'VOW-ERR-1',
      message: 'An unexpected error occurred. Please retry later or contact the support team.',
    }),
    none('unavailable', 'VOW-ERR-1'),
  ],
  [
    '2025',
    'a number that does not match the pattern',
    400,
    wrapped({
      error: 'VOW-ERR-2600',
      message: 'The VAT number does not match the following regular expression : "{0}".',
    }),
    rejected('INVALID_INPUT', 'VOW-ERR-2600'),
  ],
  [
    '2026',
    'a number that does not match the pattern, with a 200',
    200,
    {
      ...wrapped({ error: 'VOW-ERR-2600', message: 'The Vat number does not respect the configured pattern' }),
      viesResponse: null,
    },
    rejected('INVALID_INPUT', 'VOW-ERR-2600'),
  ],
  [
    '2026',
    'a requester outside the member states',
    400,
    wrapped({ error: 'VOW-ERR-2500', message: 'The requester member state code is invalid.' }),
    rejected('INVALID_REQUESTER_INFO', 'VOW-ERR-2500'),
  ],
  [
    '2026',
    'a requester that does not match the pattern',
    400,
    wrapped({ error: 'VOW-ERR-2700', message: 'The requester VAT number does not respect the configured pattern' }),
    rejected('INVALID_REQUESTER_INFO', 'VOW-ERR-2700'),
  ],
  [
    '2026',
    'half a requester',
    400,
    wrapped({ error: 'VOW-ERR-11', message: 'A mandatory field is missing' }),
    none('unavailable', 'VOW-ERR-11'),
  ],
  [
    '2025',
    'a code of the file interface',
    400,
    wrapped({ error: 'VOW-ERR-6006' }),
    none('unavailable', 'VOW-ERR-6006'),
  ],
  [
    '2026',
    'a code and its message as text',
    500,
    'VOW-ERR-1: An unexpected error occurred. Please retry later or contact the support team.',
    none('unavailable', 'VOW-ERR-1'),
  ],
  [
    '2026',
    'a refusal as text',
    400,
    'VOW-ERR-2600: The VAT number does not match the following regular expression : "{0}".',
    rejected('INVALID_INPUT', 'VOW-ERR-2600'),
  ],
  [
    '2026',
    'an explanation without a code',
    400,
    wrapped({ message: 'Some data are invalid in the request' }),
    none('unavailable', null),
  ],
  ['2025', 'an empty list of errors', 200, wrapped(), none('unavailable', null)],
  [
    '2026',
    'a number and a requester that do not match the pattern',
    400,
    wrapped({ error: 'VOW-ERR-2600' }, { error: 'VOW-ERR-2700' }),
    rejected('INVALID_REQUESTER_INFO', 'VOW-ERR-2700'),
  ],

  [
    '2024',
    'a page about maintenance',
    200,
    '<html><head><title>Maintenance</title></head><body>INVALID_INPUT</body></html>',
    none('unavailable', null),
  ],
  ['2026', 'a page of the gateway', 502, '<html><body>Bad Gateway</body></html>', none('unavailable', null)],
  [
    '2026',
    "a gateway's object",
    404,
    { timestamp: 1_790_000_000, status: 404, error: 'Not Found', path: '/x' },
    none('unavailable', null),
  ],
  ['2025', 'a limit of the gateway', 429, { message: 'Too many requests' }, none('unavailable', null)],
  [
    '2025',
    'a refusal with a rate limit: the request was not processed',
    429,
    wrapped({ error: 'INVALID_INPUT' }),
    none('unavailable', 'INVALID_INPUT'),
  ],
  [
    '2026',
    'a refusal by a firewall',
    403,
    wrapped({ error: 'INVALID_REQUESTER_INFO' }),
    none('unavailable', 'INVALID_REQUESTER_INFO'),
  ],
];

test.each(RECORDED)('%s: %s (HTTP %i)', (_when, _what, status, body, means) => {
  const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  expect(classifyAnswer(LOOKUP, { status, headers: {}, body: bytes, complete: true })).toMatchObject(means as object);
});

test('an endlessly nested error is no answer and causes no failure', () => {
  const body = `{"errorWrappers":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
  expect(classifyAnswer(LOOKUP, { status: 200, headers: {}, body: Buffer.from(body), complete: true })).toMatchObject(
    none('unavailable', null),
  );
});
