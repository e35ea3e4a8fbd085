import { SANDBOX_NUMBERS } from '@vat/domain';
import { answerSandbox } from './answer-sandbox.js';

const waiting = { background: false };
const background = { background: true };
const saturated = (code: string, scope: string) => ({
  kind: 'no_answer',
  outcome: 'saturated',
  code,
  scope,
  detail: null,
});

describe('the sandbox of test keys', () => {
  test.each([
    ['100', { kind: 'verdict', valid: true, name: 'Sandbox Trader DE100' }],
    ['200', { kind: 'verdict', valid: false, name: null, address: null }],
    ['201', { kind: 'no_answer', outcome: 'unavailable', code: 'INVALID_INPUT' }],
    ['202', { kind: 'no_answer', outcome: 'unavailable', code: 'INVALID_REQUESTER_INFO' }],
    ['300', { kind: 'no_answer', outcome: 'unavailable', code: 'SERVICE_UNAVAILABLE' }],
    ['301', { kind: 'no_answer', outcome: 'unavailable', code: 'MS_UNAVAILABLE' }],
    ['302', { kind: 'no_answer', outcome: 'timeout', code: 'TIMEOUT' }],
    ['400', { kind: 'no_answer', outcome: 'blocked', code: 'VAT_BLOCKED' }],
    ['401', { kind: 'no_answer', outcome: 'blocked', code: 'IP_BLOCKED' }],
    ['500', saturated('GLOBAL_MAX_CONCURRENT_REQ', 'global')],
    ['501', saturated('GLOBAL_MAX_CONCURRENT_REQ', 'global')],
    ['600', saturated('MS_MAX_CONCURRENT_REQ', 'member_state')],
    ['601', saturated('MS_MAX_CONCURRENT_REQ', 'member_state')],
  ])('gives the same answer for %s in the foreground and in the background', (national, expected) => {
    expect(SANDBOX_NUMBERS).toContain(national);
    expect(answerSandbox(national, waiting, 'DE')).toMatchObject(expected);
    expect(answerSandbox(national, background, 'DE')).toEqual(answerSandbox(national, waiting, 'DE'));
  });

  test.each([
    ['700', true],
    ['701', false],
  ])('answers %s only in the background', (national, valid) => {
    expect(SANDBOX_NUMBERS).toContain(national);
    expect(answerSandbox(national, waiting, 'FR')).toEqual(saturated('MS_MAX_CONCURRENT_REQ', 'member_state'));
    expect(answerSandbox(national, background, 'FR')).toMatchObject({ kind: 'verdict', valid });
  });

  test.each(['123456789', '1000', '99', 'constructor', ''])('treats %j as an ordinary number', (national) => {
    expect(SANDBOX_NUMBERS).not.toContain(national);
    expect(answerSandbox(national, waiting, 'DE')).toMatchObject({ kind: 'verdict', valid: true });
  });

  test('states no name of 101, and compares no detail of 101 to 103', () => {
    const trader = { name: 'Sandbox Trader DE102' };
    for (const national of ['101', '102', '103']) {
      expect(SANDBOX_NUMBERS).toContain(national);
      expect(answerSandbox(national, { background: false, trader }, 'DE')).toMatchObject({
        ...{ kind: 'verdict', valid: true },
        name: national === '101' ? null : `Sandbox Trader DE${national}`,
        traderMatch: { name: 'not_processed', city: 'not_processed' },
      });
    }
    expect(answerSandbox('101', waiting, 'DE')).toMatchObject({ name: null, address: null });
  });

  test('returns a consultation number only with a requester and a match only with a trader', () => {
    const outcome = answerSandbox(
      '123456789',
      { background: false, requester: { memberState: 'AT', national: 'U12345678' }, trader: { city: 'Wien' } },
      'DE',
    );
    expect(outcome).toMatchObject({
      consultationNumber: 'SANDBOX-DE123456789',
      traderMatch: { city: 'valid', name: 'not_processed' },
    });
    expect(answerSandbox('123456789', waiting, 'DE')).toMatchObject({ consultationNumber: null, traderMatch: null });
  });
});
