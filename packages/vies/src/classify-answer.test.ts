import type { LookupOutcome, LookupSubject } from '@vat/domain';
import fc from 'fast-check';
import { classifyAnswer } from './classify-answer.js';

const LOOKUP: LookupSubject = { memberState: 'FR', national: '40303265045', requester: null, trader: null };
const REAL = {
  countryCode: 'FR',
  vatNumber: '40303265045',
  requestDate: '2026-11-03T10:15:30.123Z',
  valid: true,
  requestIdentifier: '',
  name: 'SA SODIMAS',
  address: 'RUE DE LA GARE\n26800 PONT DE L ISERE',
  traderName: '---',
  traderNameMatch: 'NOT_PROCESSED',
};

const answer = (status: number, body: unknown, headers: Record<string, string> = {}) => ({
  status,
  headers,
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  complete: true,
});
const wrapped = (...errors: unknown[]) => ({ actionSucceed: false, errorWrappers: errors.map((error) => ({ error })) });

const verdict = (valid: boolean) => expect.objectContaining({ kind: 'verdict', valid });
const unavailable = (code: string | null, detail: unknown = expect.anything()) => ({
  kind: 'no_answer',
  outcome: 'unavailable',
  code,
  scope: null,
  detail,
});
const saturated = (code: string, scope: string) => expect.objectContaining({ outcome: 'saturated', code, scope });
const other = (outcome: string, code: string) => expect.objectContaining({ kind: 'no_answer', outcome, code });
const rejected = (code: string) => ({ kind: 'rejected', code });

type Row = [title: string, status: number, body: unknown, expected: unknown];

const ROWS: Row[] = [
  ['a real valid answer', 200, REAL, verdict(true)],
  ['a real invalid answer', 200, { ...REAL, valid: false, name: '---', address: '---' }, verdict(false)],
  ['an answer with a byte order mark', 200, `\uFEFF${JSON.stringify(REAL)}`, verdict(true)],
  ['userError VALID beside valid true', 200, { ...REAL, userError: 'VALID' }, verdict(true)],
  ['userError INVALID beside valid false', 200, { ...REAL, valid: false, userError: 'INVALID' }, verdict(false)],
  [
    'empty error fields',
    200,
    { ...REAL, actionSucceed: true, errorWrappers: [], userError: '', error: null },
    verdict(true),
  ],
  ['an echo in lower case with blanks', 200, { ...REAL, countryCode: 'fr', vatNumber: '40 303 265045' }, verdict(true)],
  ['an echo with its prefix', 200, { ...REAL, vatNumber: 'FR40303265045' }, verdict(true)],
  ['an echo as a number', 200, { ...REAL, vatNumber: 40303265045 }, verdict(true)],
  ['an echo with leading zeros', 200, { ...REAL, vatNumber: '0040303265045' }, verdict(true)],
  ['an echo left blank', 200, { ...REAL, countryCode: null, vatNumber: '---' }, verdict(true)],

  ['an echo of another number', 200, { ...REAL, vatNumber: '40303265046' }, unavailable(null)],
  ['an echo of another country', 200, { ...REAL, countryCode: 'IT' }, unavailable(null)],
  ['userError INVALID beside valid true', 200, { ...REAL, userError: 'INVALID' }, unavailable(null)],
  ['userError VALID beside valid false', 200, { ...REAL, valid: false, userError: 'VALID' }, unavailable(null)],
  ['isValid false beside valid true', 200, { ...REAL, isValid: false }, unavailable(null)],
  ['isValid beside the same valid', 200, { ...REAL, isValid: true }, verdict(true)],
  ['a missing valid', 200, { ...REAL, valid: undefined }, unavailable(null, expect.stringContaining('boolean'))],
  ['valid as a string', 200, { ...REAL, valid: 'true' }, unavailable(null)],
  ['valid as a number', 200, { ...REAL, valid: 0 }, unavailable(null)],
  ['valid null', 200, { ...REAL, valid: null }, unavailable(null)],
  ['valid further down', 200, { result: { valid: true } }, unavailable(null)],
  ['actionSucceed false alone', 200, { ...REAL, actionSucceed: false }, unavailable(null)],
  ['actionSucceed as a string', 200, { ...REAL, actionSucceed: 'false' }, unavailable(null)],
  ['an error field of an unknown shape', 200, { ...REAL, errorWrappers: { any: 1 } }, unavailable(null)],
  [
    'valid false beside an error',
    200,
    { ...REAL, valid: false, ...wrapped('MS_UNAVAILABLE') },
    unavailable('MS_UNAVAILABLE', null),
  ],
  [
    'valid true beside an error',
    200,
    { ...REAL, ...wrapped('SERVICE_UNAVAILABLE') },
    unavailable('SERVICE_UNAVAILABLE', null),
  ],
  ['valid false beside a refusal', 200, { valid: false, ...wrapped('INVALID_INPUT') }, unavailable('INVALID_INPUT')],
  ['valid false beside a time-out', 200, { valid: false, userError: 'TIMEOUT' }, unavailable('TIMEOUT', null)],
  ['valid false under a 500', 500, { ...REAL, valid: false }, unavailable(null, 'HTTP 500')],
  ['valid true under a 503', 503, REAL, unavailable(null, 'HTTP 503')],
  ['valid false under a 404', 404, { ...REAL, valid: false }, unavailable(null, 'HTTP 404')],
  ['valid true under a 201', 201, REAL, unavailable(null, 'HTTP 201')],
  ['valid false under a 302', 302, { ...REAL, valid: false }, unavailable(null, 'HTTP 302')],

  ['MS_MAX_CONCURRENT_REQ', 200, wrapped('MS_MAX_CONCURRENT_REQ'), saturated('MS_MAX_CONCURRENT_REQ', 'member_state')],
  ['its time variant', 200, wrapped('MS_MAX_CONCURRENT_REQ_TIME'), saturated('MS_MAX_CONCURRENT_REQ', 'member_state')],
  [
    'GLOBAL_MAX_CONCURRENT_REQ',
    200,
    wrapped('GLOBAL_MAX_CONCURRENT_REQ'),
    saturated('GLOBAL_MAX_CONCURRENT_REQ', 'global'),
  ],
  [
    'its time variant',
    503,
    wrapped('GLOBAL_MAX_CONCURRENT_REQ_TIME'),
    saturated('GLOBAL_MAX_CONCURRENT_REQ', 'global'),
  ],
  [
    'saturation in userError beside valid false',
    200,
    { valid: false, userError: 'MS_MAX_CONCURRENT_REQ' },
    saturated('MS_MAX_CONCURRENT_REQ', 'member_state'),
  ],
  ['saturation under a 500', 500, wrapped('MS_MAX_CONCURRENT_REQ'), saturated('MS_MAX_CONCURRENT_REQ', 'member_state')],
  ['SERVER_BUSY', 200, wrapped('SERVER_BUSY'), unavailable('SERVER_BUSY', null)],
  ['SERVICE_UNAVAILABLE', 200, wrapped('SERVICE_UNAVAILABLE'), unavailable('SERVICE_UNAVAILABLE', null)],
  ['MS_UNAVAILABLE in a plain error', 400, { error: 'MS_UNAVAILABLE' }, unavailable('MS_UNAVAILABLE', 'HTTP 400')],
  ['TIMEOUT', 200, wrapped('TIMEOUT'), other('timeout', 'TIMEOUT')],
  ['VAT_BLOCKED', 200, wrapped('VAT_BLOCKED'), other('blocked', 'VAT_BLOCKED')],
  ['IP_BLOCKED', 403, wrapped('IP_BLOCKED'), other('blocked', 'IP_BLOCKED')],
  ['INVALID_INPUT', 200, wrapped('INVALID_INPUT'), rejected('INVALID_INPUT')],
  ['INVALID_INPUT under a 400', 400, wrapped('INVALID_INPUT'), rejected('INVALID_INPUT')],
  ['INVALID_INPUT under a 500', 500, wrapped('INVALID_INPUT'), unavailable('INVALID_INPUT', 'HTTP 500')],
  ['INVALID_REQUESTER_INFO', 200, { userError: 'INVALID_REQUESTER_INFO' }, rejected('INVALID_REQUESTER_INFO')],
  [
    'INVALID_REQUESTER_INFO under a 503',
    503,
    wrapped('INVALID_REQUESTER_INFO'),
    unavailable('INVALID_REQUESTER_INFO', 'HTTP 503'),
  ],
  ['a VOW error', 500, wrapped('VOW-ERR-1'), unavailable('VOW-ERR-1', 'HTTP 500')],
  ['an unknown code', 200, wrapped('SOMETHING_NEW'), unavailable('SOMETHING_NEW')],
  ['an error that is not a code', 200, wrapped('Something went wrong'), unavailable(null)],
  [
    'a code in message',
    200,
    { actionSucceed: false, errorWrappers: [{ message: 'MS_UNAVAILABLE' }] },
    unavailable('MS_UNAVAILABLE', null),
  ],
  ['a known code after an unknown one', 200, wrapped('VOW-ERR-7', 'IP_BLOCKED'), other('blocked', 'IP_BLOCKED')],
  ['an error without any text', 200, { actionSucceed: false }, unavailable(null)],

  ['HTML', 200, '<!DOCTYPE html><html></html>', unavailable(null, 'HTML instead of JSON')],
  ['HTML under a 503', 503, '<html></html>', unavailable(null, 'HTTP 503')],
  ['nothing', 200, '', unavailable(null, 'an empty answer')],
  ['half JSON', 200, JSON.stringify(REAL).slice(0, 120), unavailable(null, 'an answer that is not JSON')],
  ['JSON with something behind', 200, `${JSON.stringify(REAL)}<!-- -->`, unavailable(null)],
  ['an array', 200, [REAL], unavailable(null, 'JSON that is not an object')],
  ['null', 200, 'null', unavailable(null)],
  ['true', 200, 'true', unavailable(null)],
  ['a 429 without a code', 429, 'slow down', unavailable(null, 'HTTP 429')],
];

const known = (outcome: LookupOutcome) => {
  if (outcome.kind !== 'verdict') throw new Error(`no verdict but ${JSON.stringify(outcome)}`);
  return outcome;
};

describe('classifying an answer', () => {
  test.each(ROWS)('reads %s (HTTP %i)', (_title, status, body, expected) => {
    expect(classifyAnswer(LOOKUP, answer(status, body))).toEqual(expected);
  });

  test('accepts both codes of Greece', () => {
    const lookup: LookupSubject = { ...LOOKUP, memberState: 'EL', national: '094259216' };
    const body = { countryCode: 'GR', vatNumber: '94259216', valid: true };
    expect(classifyAnswer(lookup, answer(200, body))).toEqual(verdict(true));
  });

  test('does not accept a truncated answer, even if its body looks complete', () => {
    expect(classifyAnswer(LOOKUP, { ...answer(200, REAL), complete: false })).toEqual(
      unavailable(null, 'an answer cut short'),
    );
  });

  test('names the encoding of an answer that was not requested', () => {
    const outcome = classifyAnswer(LOOKUP, answer(200, '\u001f\u008b\b', { 'content-encoding': 'gzip' }));
    expect(outcome).toEqual(unavailable(null, expect.stringContaining('gzip')));
  });

  test('returns name, address with its lines, and the consultation number when a requester was sent', () => {
    const body = answer(200, { ...REAL, requestIdentifier: 'WAPIAAAAYvV3ZaaT' });
    expect(known(classifyAnswer(LOOKUP, body)).consultationNumber).toBeNull();
    const outcome = known(classifyAnswer({ ...LOOKUP, requester: { memberState: 'DE', national: '1' } }, body));
    expect(outcome).toEqual({
      kind: 'verdict',
      valid: true,
      name: 'SA SODIMAS',
      address: 'RUE DE LA GARE\n26800 PONT DE L ISERE',
      consultationNumber: 'WAPIAAAAYvV3ZaaT',
      traderMatch: null,
    });
  });

  test.each(['---', ' --- ', '', ' \n', null, 7, { a: 1 }])('treats %j as not disclosed', (nothing) => {
    const body = { ...REAL, name: nothing, address: nothing, requestIdentifier: nothing };
    const { name, address, consultationNumber } = known(classifyAnswer(LOOKUP, answer(200, body)));
    expect([name, address, consultationNumber]).toEqual([null, null, null]);
  });

  test('reads the match of each part when a trader was given', () => {
    const lookup: LookupSubject = { ...LOOKUP, trader: { name: 'Sodimas', city: 'Pont' } };
    const body = {
      ...REAL,
      traderNameMatch: 'VALID',
      traderCityMatch: 'INVALID',
      traderStreetMatch: 'NOT_PROCESSED',
      traderPostalCodeMatch: 'MAYBE',
    };
    expect(known(classifyAnswer(lookup, answer(200, body))).traderMatch).toEqual({
      name: 'valid',
      city: 'invalid',
      street: 'not_processed',
      postal_code: null,
      company_type: null,
    });
  });

  test('has no trader match when the trader given was empty', () => {
    const body = { ...REAL, traderNameMatch: 'VALID' };
    expect(known(classifyAnswer({ ...LOOKUP, trader: {} }, answer(200, body))).traderMatch).toBeNull();
  });
});

const isNone = (value: unknown) =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);

/** The rule, implemented again without the classifier's code. */
const mayBeVerdict = (status: number, complete: boolean, bytes: Uint8Array): boolean | null => {
  if (status !== 200 || !complete) return null;
  try {
    const body = JSON.parse(new TextDecoder().decode(bytes));
    if (typeof body !== 'object' || body === null || Array.isArray(body) || typeof body.valid !== 'boolean')
      return null;
    const clean =
      isNone(body.errorWrappers) && isNone(body.error) && (isNone(body.actionSucceed) || body.actionSucceed === true);
    const word = body.userError;
    return clean && body.isValid !== !body.valid && (isNone(word) || word === (body.valid ? 'VALID' : 'INVALID'))
      ? body.valid
      : null;
  } catch {
    return null;
  }
};

describe('the rule that no verdict is invented', () => {
  const keys = [...Object.keys(REAL), 'isValid', 'actionSucceed', 'errorWrappers', 'userError', 'error'] as const;
  const object = fc
    .tuple(
      fc.boolean(),
      fc.array(
        fc.tuple(
          fc.constantFrom(...keys),
          fc.oneof(fc.jsonValue(), fc.constantFrom('VALID', 'INVALID', 'TIMEOUT', undefined)),
        ),
        { maxLength: 2 },
      ),
    )
    .map(([valid, changes]) => Buffer.from(JSON.stringify({ ...REAL, valid, ...Object.fromEntries(changes) })));
  const damaged = fc
    .tuple(object, fc.nat(400), fc.nat(255), fc.constantFrom('whole', 'truncated', 'flipped'))
    .map(([bytes, at, bits, damage]) => {
      const index = at % bytes.byteLength;
      if (damage === 'truncated') return bytes.subarray(0, index);
      if (damage === 'flipped') bytes.writeUInt8(bytes.readUInt8(index) ^ bits, index);
      return bytes;
    });
  const bytes = fc.oneof(
    { weight: 8, arbitrary: damaged },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }) },
  );
  const status = fc.oneof(
    { weight: 6, arbitrary: fc.constant(200) },
    { weight: 2, arbitrary: fc.integer({ min: 200, max: 599 }) },
  );

  test('a verdict requires a complete 200 with a JSON object, a boolean valid and no error, and has its value', () => {
    let verdicts = 0;
    fc.assert(
      fc.property(status, bytes, fc.boolean(), (code, body, cut) => {
        const outcome = classifyAnswer(LOOKUP, { status: code, headers: {}, body, complete: !cut });
        if (outcome.kind !== 'verdict') return;
        verdicts += 1;
        expect(mayBeVerdict(code, !cut, body)).toBe(outcome.valid);
      }),
      { numRuns: 3_000 },
    );
    expect(verdicts).toBeGreaterThan(100); // otherwise the rule would hold without any verdict
  });
});
