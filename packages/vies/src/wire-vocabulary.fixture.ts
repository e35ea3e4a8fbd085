import type { EndedCall } from './create-vies-client.js';

/**
 * The meaning of an upstream reply according to docs/api.md, independent of the code under test. `nothing`: no answer
 * of any kind.
 */
export type Meaning = 'valid' | 'invalid' | 'refuses_input' | 'refuses_requester' | 'nothing';
export type Reply = { means: Meaning; call: EndedCall; title: string };

/** The number in every reply. */
export const NUMBER = { memberState: 'FR', national: '40303265045' } as const;

const INPUT_CODES = ['INVALID_INPUT', 'VOW-ERR-2600'];
const REQUESTER_CODES = ['INVALID_REQUESTER_INFO', 'VOW-ERR-2500', 'VOW-ERR-2700'];
const OTHER_CODES = [
  'SERVICE_UNAVAILABLE',
  'MS_UNAVAILABLE',
  'TIMEOUT',
  'SERVER_BUSY',
  'VAT_BLOCKED',
  'IP_BLOCKED',
  'GLOBAL_MAX_CONCURRENT_REQ',
  'GLOBAL_MAX_CONCURRENT_REQ_TIME',
  'MS_MAX_CONCURRENT_REQ',
  'MS_MAX_CONCURRENT_REQ_TIME',
  'VOW-ERR-1',
  'VOW-ERR-2',
  'VOW-ERR-11',
  'VOW-ERR-260',
  'VOW-ERR-26000',
  'VOW-ERR-2601',
  'VOW-ERR-6006',
  'SOMETHING_NEW',
  'INVALID_INPUTS',
];
/** The statuses with which VIES refuses requests; with any other status a refusal contradicts it. */
const REFUSING = [200, 400, 422];
const STATUSES = [...REFUSING, 201, 204, 302, 401, 403, 404, 408, 429, 500, 502, 503, 504];
const EXPLANATION = 'Some data are invalid in the request';

const VERDICT = {
  countryCode: 'FR',
  vatNumber: '40303265045',
  requestDate: '2026-11-03T10:15:30.123Z',
  requestIdentifier: 'WAPIAAAAYvV3ZaaT',
  name: 'SA SODIMAS',
  address: 'RUE DE LA GARE\n26800 PONT DE L ISERE',
  traderNameMatch: 'VALID',
};

const answered = (body: unknown, status = 200, headers: Record<string, string> = {}, complete = true): EndedCall => ({
  end: 'complete',
  response: { status, headers, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), complete },
  error: null,
  errorCode: null,
});

/** The forms of an error. In `silent` ones the code must not be read. */
const FORMS: readonly { form: string; silent?: true; body: (code: string) => unknown }[] = [
  { form: 'wrappers', body: (error) => ({ actionSucceed: false, errorWrappers: [{ error }] }) },
  {
    form: 'wrappers with a message',
    body: (error) => ({ actionSucceed: false, errorWrappers: [{ error, message: EXPLANATION }] }),
  },
  { form: 'wrappers without a flag', body: (error) => ({ errorWrappers: [{ error }] }) },
  { form: 'a message', body: (code) => ({ actionSucceed: false, errorWrappers: [{ message: code }] }) },
  {
    form: 'a message that begins with it',
    body: (code) => ({ actionSucceed: false, errorWrappers: [{ message: `${code}: ${EXPLANATION}` }] }),
  },
  { form: 'codes by the name of code', body: (code) => ({ errors: [{ code, message: EXPLANATION }] }) },
  { form: 'userError', body: (userError) => ({ userError }) },
  { form: 'error', body: (error) => ({ error }) },
  { form: 'errorCode', body: (errorCode) => ({ errorCode, errorMessage: EXPLANATION }) },
  { form: 'a list', body: (error) => [{ error, message: EXPLANATION }] },
  { form: 'text', body: (code) => code },
  { form: 'text with an explanation', body: (code) => `${code}: ${EXPLANATION}\n` },
  { form: 'a JSON string', body: (code) => JSON.stringify(code) },
  {
    form: 'beside an unknown code',
    silent: true,
    body: (error) => ({ errorWrappers: [{ error }, { error: 'NEW_ONE' }] }),
  },
  {
    form: 'beside an outage',
    silent: true,
    body: (error) => ({ errorWrappers: [{ error }, { error: 'MS_UNAVAILABLE' }] }),
  },
  {
    form: 'an explanation alone',
    silent: true,
    body: () => ({ actionSucceed: false, errorWrappers: [{ message: EXPLANATION }] }),
  },
  { form: 'text that ends in it', silent: true, body: (code) => `${EXPLANATION} (${code})` },
  { form: 'HTML', silent: true, body: (code) => `<html><body>${code}</body></html>` },
  { form: 'an empty error', silent: true, body: () => ({ actionSucceed: false, errorWrappers: [] }) },
  {
    form: 'beside valid true',
    silent: true,
    body: (error) => ({ ...VERDICT, valid: true, errorWrappers: [{ error }] }),
  },
  {
    form: 'beside valid false',
    silent: true,
    body: (error) => ({ ...VERDICT, valid: false, errorWrappers: [{ error }] }),
  },
  {
    form: 'userError beside valid false',
    silent: true,
    body: (userError) => ({ ...VERDICT, valid: false, userError }),
  },
  { form: 'userError beside isValid false', silent: true, body: (userError) => ({ isValid: false, userError }) },
];

const meaningOf = (code: string, status: number, silent: boolean): Meaning => {
  if (silent || !REFUSING.includes(status)) return 'nothing';
  if (INPUT_CODES.includes(code)) return 'refuses_input';
  return REQUESTER_CODES.includes(code) ? 'refuses_requester' : 'nothing';
};

const errors = (): Reply[] =>
  [...INPUT_CODES, ...REQUESTER_CODES, ...OTHER_CODES].flatMap((code) =>
    STATUSES.flatMap((status) =>
      FORMS.map(({ form, body, silent = false }): Reply => {
        const means = meaningOf(code, status, silent);
        const title = `${code} as ${form} under ${status}`;
        const headers: Record<string, string> = status === 429 ? { 'retry-after': '7' } : {};
        return { means, call: answered(body(code), status, headers), title };
      }),
    ),
  );

const verdicts = (): Reply[] =>
  [true, false].flatMap((valid) => {
    const means: Meaning = valid ? 'valid' : 'invalid';
    const answer = { ...VERDICT, valid };
    const clear: unknown[] = [
      answer,
      { ...answer, actionSucceed: true, errorWrappers: [], error: null },
      { ...answer, userError: valid ? 'VALID' : 'INVALID' },
      { ...answer, countryCode: 'fr', vatNumber: 'FR 40303265045' },
      { ...answer, name: '---', address: '---', requestIdentifier: '' },
    ];
    const unclear: unknown[] = [
      { ...answer, userError: valid ? 'INVALID' : 'VALID' },
      { ...answer, vatNumber: '40303265046' },
      { ...answer, countryCode: 'IT' },
      { ...answer, actionSucceed: false },
      { ...answer, valid: String(valid) },
      { ...answer, valid: valid ? 1 : 0 },
      { ...VERDICT, isValid: valid, userError: valid ? 'VALID' : 'INVALID' },
      { actionSucceed: true, viesResponse: answer },
      [answer],
      JSON.stringify(answer).slice(0, -1),
      `${JSON.stringify(answer)}<!-- proxy -->`,
    ];
    const nothing = (body: unknown, status = 200, complete = true): Reply => ({
      means: 'nothing',
      call: answered(body, status, {}, complete),
      title: `${JSON.stringify(body)} under ${status}${complete ? '' : ', cut'}`,
    });
    return [
      ...clear.map((body): Reply => ({ means, call: answered(body), title: JSON.stringify(body) })),
      { means, call: answered(answer, 200, { 'retry-after': '3' }), title: `${valid} with Retry-After` },
      ...unclear.map((body) => nothing(body)),
      ...STATUSES.filter((status) => status !== 200).map((status) => nothing(answer, status)),
      nothing(answer, 200, false),
    ];
  });

const broken = (): Reply[] => {
  const ends: EndedCall[] = [
    ...STATUSES.flatMap((status) =>
      ['', '<html></html>', 'busy', '{}', 'null', '[]'].map((body) => answered(body, status)),
    ),
    answered('', 503, { 'retry-after': '3600' }),
    { end: 'deadline', response: null, error: 'no complete answer within 20000 ms', errorCode: null },
    { end: 'aborted', response: null, error: 'AbortError: aborted', errorCode: null },
    { end: 'too_long', response: null, error: 'an answer over 262144 bytes', errorCode: null },
    { end: 'failed', response: null, error: 'RequestError', errorCode: 'ECONNRESET' },
    { end: 'failed', response: null, error: 'RequestError', errorCode: 'ETIMEDOUT' },
  ];
  return ends.map((end) => ({ means: 'nothing', call: end, title: `${end.end} ${end.error ?? ''}` }));
};

/** Every possible upstream reply, in every form, by its meaning. */
export const vocabulary = (): Record<Meaning, Reply[]> => {
  const all = [...verdicts(), ...errors(), ...broken()];
  const of = (meaning: Meaning) => all.filter(({ means }) => means === meaning);
  return {
    valid: of('valid'),
    invalid: of('invalid'),
    refuses_input: of('refuses_input'),
    refuses_requester: of('refuses_requester'),
    nothing: of('nothing'),
  };
};
