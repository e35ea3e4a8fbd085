import {
  BODY,
  DELIVERY_ID,
  EVENT_ID,
  headersOf,
  OTHER_SECRET,
  SECRET,
  SENT_AT,
  signedHeaders,
} from './signed-delivery.fixture.js';
import { VerificationError } from './verification-error.js';
import { type VerifyInput, verify } from './verify.js';

const clockAt = (seconds: number) => () => new Date(SENT_AT.getTime() + seconds * 1000);

/** Verifies the delivery of the fixture with changes; `unknown` permits values that TypeScript would refuse. */
const verifyDelivery = (changes: { [Key in keyof VerifyInput]?: unknown } = {}) =>
  verify({
    headers: signedHeaders(),
    rawBody: BODY,
    secret: SECRET,
    now: clockAt(0),
    ...changes,
  } as VerifyInput);

/** The code of the VerificationError that `act` throws; any other error is rethrown and fails the test. */
const codeOf = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    if (error instanceof VerificationError) return error.code;
    throw error;
  }
  return 'verified';
};

const SERVICE = headersOf('x-service-');
const STANDARD = headersOf('webhook-');

describe('verify', () => {
  it('returns the event, its id, the delivery and the time of the attempt', () => {
    expect(verifyDelivery()).toEqual({
      event: { event: 'webhook.test', sent_at: '2026-11-20T09:14:04.000Z' },
      id: EVENT_ID,
      deliveryId: DELIVERY_ID,
      sentAt: SENT_AT,
    });
  });

  it('accepts the body as text, as a Buffer and as other bytes', () => {
    const bodies = [BODY, Buffer.from(BODY), new TextEncoder().encode(BODY)];
    expect(bodies.map((rawBody) => codeOf(() => verifyDelivery({ rawBody })))).toEqual([
      'verified',
      'verified',
      'verified',
    ]);
  });

  it('uses the clock of this machine when none is given', () => {
    const now = undefined;
    const headers = signedHeaders({ sentAt: new Date() });
    expect([codeOf(() => verifyDelivery({ headers, now })), codeOf(() => verifyDelivery({ now }))]).toEqual([
      'verified',
      'TIMESTAMP_OUTSIDE_TOLERANCE',
    ]);
  });

  describe('signatures', () => {
    it('accepts either scheme alone, and returns an event id only from the one that signs it', () => {
      const unsignedId = { ...SERVICE, 'webhook-id': 'evt_forged' };
      expect([
        verifyDelivery({ headers: SERVICE }).id,
        verifyDelivery({ headers: unsignedId }).id,
        verifyDelivery({ headers: STANDARD }).id,
      ]).toEqual([null, null, EVENT_ID]);
    });

    it('refuses a delivery when only one of two signatures is correct', () => {
      const forged = signedHeaders({ secret: OTHER_SECRET });
      expect([
        codeOf(() => verifyDelivery({ headers: { ...SERVICE, ...headersOf('webhook-', forged) } })),
        codeOf(() => verifyDelivery({ headers: { ...headersOf('x-service-', forged), ...STANDARD } })),
      ]).toEqual(['SIGNATURE_MISMATCH', 'SIGNATURE_MISMATCH']);
    });

    it.each([
      ['the service’s own', SERVICE],
      ['Standard Webhooks', STANDARD],
    ])('%s: refuses another secret, a changed body and a changed timestamp', (_scheme, headers) => {
      const later = Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, name.endsWith('timestamp') ? String(+value + 1) : value]),
      );
      expect([
        codeOf(() => verifyDelivery({ headers, secret: OTHER_SECRET })),
        codeOf(() => verifyDelivery({ headers, rawBody: `${BODY} ` })),
        codeOf(() => verifyDelivery({ headers, rawBody: '' })),
        codeOf(() => verifyDelivery({ headers: later })),
        codeOf(() => verifyDelivery({ headers })),
      ]).toEqual([...Array(4).fill('SIGNATURE_MISMATCH'), 'verified']);
    });

    it('refuses a changed event id', () => {
      expect(codeOf(() => verifyDelivery({ headers: { ...STANDARD, 'webhook-id': 'evt_other' } }))).toBe(
        'SIGNATURE_MISMATCH',
      );
    });

    it.each([SERVICE, STANDARD])('refuses a signature with any one different character (%#)', (headers) => {
      const name = Object.keys(headers).find((key) => key.endsWith('signature')) ?? '';
      const right = headers[name] ?? '';
      const start = right.search(/[=,]/) + 1;
      // The last base64 digit before the padding has unused bits; the one before it does not.
      const end = right.endsWith('=') ? right.length - 2 : right.length;
      const codes = Array.from({ length: end - start }, (_, index) => {
        const at = start + index;
        const wrong = `${right.slice(0, at)}${right[at] === '0' ? '1' : '0'}${right.slice(at + 1)}`;
        return codeOf(() => verifyDelivery({ headers: { ...headers, [name]: wrong } }));
      });
      expect(new Set(codes)).toEqual(new Set(['SIGNATURE_MISMATCH']));
    });

    it('accepts a list of signatures when one of them is correct, at any position', () => {
      const right = STANDARD['webhook-signature'] ?? '';
      const wrong = headersOf('webhook-', signedHeaders({ secret: OTHER_SECRET }))['webhook-signature'] ?? '';
      const lists = [`${right} ${wrong}`, `${wrong} ${right}`, `v1a,other ${right} v2,`, [wrong, right], wrong];
      expect(
        lists.map((list) => codeOf(() => verifyDelivery({ headers: { ...STANDARD, 'webhook-signature': list } }))),
      ).toEqual([...Array(4).fill('verified'), 'SIGNATURE_MISMATCH']);
    });

    it('accepts several secrets during a rotation', () => {
      expect([
        codeOf(() => verifyDelivery({ secret: [OTHER_SECRET, SECRET] })),
        codeOf(() => verifyDelivery({ secret: [SECRET, OTHER_SECRET] })),
        codeOf(() => verifyDelivery({ secret: [OTHER_SECRET] })),
      ]).toEqual(['verified', 'verified', 'SIGNATURE_MISMATCH']);
    });
  });

  describe('time', () => {
    it('accepts a clock that differs by 300 seconds either way, and not by more', () => {
      const clocks = [-300, 300, -300.001, 300.001, -301, 301];
      expect(clocks.map((seconds) => codeOf(() => verifyDelivery({ now: clockAt(seconds) })))).toEqual([
        'verified',
        'verified',
        ...Array(4).fill('TIMESTAMP_OUTSIDE_TOLERANCE'),
      ]);
    });

    it('checks the timestamp of each scheme', () => {
      const old = headersOf('webhook-', signedHeaders({ sentAt: clockAt(-301)() }));
      expect(codeOf(() => verifyDelivery({ headers: { ...SERVICE, ...old } }))).toBe('TIMESTAMP_OUTSIDE_TOLERANCE');
    });

    it('uses another tolerance when given', () => {
      const codes = [10, 11, -10, -11].map((seconds) =>
        codeOf(() => verifyDelivery({ tolerance: 10, now: clockAt(seconds) })),
      );
      expect(codes).toEqual(['verified', 'TIMESTAMP_OUTSIDE_TOLERANCE', 'verified', 'TIMESTAMP_OUTSIDE_TOLERANCE']);
    });

    it('refuses every delivery when the tolerance or the clock is NaN', () => {
      expect([
        codeOf(() => verifyDelivery({ tolerance: Number.NaN })),
        codeOf(() => verifyDelivery({ now: () => new Date(Number.NaN) })),
      ]).toEqual(['TIMESTAMP_OUTSIDE_TOLERANCE', 'TIMESTAMP_OUTSIDE_TOLERANCE']);
    });
  });

  describe('headers', () => {
    const entries = Object.entries(signedHeaders());

    it.each([
      ['a plain object in capitals', Object.fromEntries(entries.map(([name, value]) => [name.toUpperCase(), value]))],
      ['an object of lists', Object.fromEntries(entries.map(([name, value]) => [name, [value]]))],
      ['a list with the same value twice', Object.fromEntries(entries.map(([name, value]) => [name, [value, value]]))],
      ['a Headers object', new Headers(entries)],
    ])('are read from %s', (_kind, headers) => {
      expect(verifyDelivery({ headers }).id).toBe(EVENT_ID);
    });

    it.each([
      ['none', {}],
      ['no object', undefined],
      ['null', null],
      ['text', 'x-service-signature'],
      ['values that are not text', { 'x-service-signature': 7, 'webhook-signature': [null, {}] }],
      ['empty values', { ...SERVICE, ...STANDARD, 'x-service-signature': '', 'webhook-signature': [''] }],
      ['a signature without its timestamp', { ...SERVICE, 'x-service-timestamp': undefined }],
      ['a standard signature without its timestamp', { ...STANDARD, 'webhook-timestamp': undefined }],
      ['a standard signature without its id', { ...STANDARD, 'webhook-id': undefined }],
      ['timestamps without a signature', { 'x-service-timestamp': '1', 'webhook-timestamp': '1', 'webhook-id': 'e' }],
    ])('that are missing are MISSING_HEADER: %s', (_kind, headers) => {
      expect(codeOf(() => verifyDelivery({ headers }))).toBe('MISSING_HEADER');
    });

    const hex = SERVICE['x-service-signature']?.slice('sha256='.length) ?? '';
    it.each([
      ['no prefix', { ...SERVICE, 'x-service-signature': hex }],
      ['another digest', { ...SERVICE, 'x-service-signature': `sha1=${hex}` }],
      ['capitals', { ...SERVICE, 'x-service-signature': `sha256=${hex.toUpperCase()}` }],
      ['too short', { ...SERVICE, 'x-service-signature': `sha256=${hex.slice(2)}` }],
      ['too long', { ...SERVICE, 'x-service-signature': `sha256=${hex}00` }],
      ['a trailing line feed', { ...SERVICE, 'x-service-signature': `sha256=${hex}\n` }],
      ['no digits', { ...SERVICE, 'x-service-signature': `sha256=${'€'.repeat(64)}` }],
      [
        'two different signatures',
        { ...SERVICE, 'x-service-signature': [`sha256=${hex}`, `sha256=${'0'.repeat(64)}`] },
      ],
      [
        'a signature of another version',
        { ...STANDARD, 'webhook-signature': STANDARD['webhook-signature']?.replace('v1', 'v1a') },
      ],
      ['no v1 signature', { ...STANDARD, 'webhook-signature': 'v1a,abc v2,def' }],
      ['no base64', { ...STANDARD, 'webhook-signature': `v1,${'€'.repeat(43)}=` }],
      ['a v1 signature cut off', { ...STANDARD, 'webhook-signature': 'v1,abc' }],
      ['a comma alone', { ...STANDARD, 'webhook-signature': ',' }],
      ['a timestamp in words', { ...SERVICE, 'x-service-timestamp': 'now' }],
      ['a negative timestamp', { ...SERVICE, 'x-service-timestamp': '-1' }],
      ['a fractional timestamp', { ...STANDARD, 'webhook-timestamp': '1.5' }],
      ['an exponent', { ...STANDARD, 'webhook-timestamp': '1e9' }],
      ['an endless timestamp', { ...STANDARD, 'webhook-timestamp': '9'.repeat(400) }],
      ['two different timestamps', { ...STANDARD, 'webhook-timestamp': ['1', '2'] }],
    ])('that cannot be read are MALFORMED_HEADER: %s', (_kind, headers) => {
      expect(codeOf(() => verifyDelivery({ headers }))).toBe('MALFORMED_HEADER');
    });
  });

  describe('errors of the receiver', () => {
    it.each([[{}], [undefined], [null], [{ event: 'webhook.test' }], [7]])('a body that is not raw: %p', (rawBody) => {
      expect(codeOf(() => verifyDelivery({ rawBody }))).toBe('BODY_NOT_RAW');
    });

    it.each([[undefined], [''], [null], [[]], [['']], [[SECRET, undefined]], [7]])('no secret: %p', (secret) => {
      expect(codeOf(() => verifyDelivery({ secret }))).toBe('INVALID_SECRET');
    });

    it.each(['whsec_', 'whsec_!!!!', SECRET.slice('whsec_'.length), `${SECRET}\n`])(
      'a secret that was not copied completely: %j',
      (secret) => {
        expect(codeOf(() => verifyDelivery({ secret, headers: STANDARD }))).toBe('INVALID_SECRET');
      },
    );
  });

  it.each(['', 'null', '[]', '7', '"event"', '{}', '{"event":1}', '{"event":"webhook.test"'])(
    'refuses a signed body that is not an event: %j',
    (body) => {
      expect(codeOf(() => verifyDelivery({ rawBody: body, headers: signedHeaders({ body }) }))).toBe('INVALID_BODY');
    },
  );

  it('returns an event with an unknown name', () => {
    const body = '{"event":"something.new"}';
    expect(verifyDelivery({ rawBody: body, headers: signedHeaders({ body }) }).event).toEqual({
      event: 'something.new',
    });
  });

  it('does not reveal the secret or the expected signature in its errors', () => {
    const right = Object.values(signedHeaders()).filter((value) => /^(sha256=|v1,)/.test(value));
    const refusals = [{ rawBody: 'x' }, { now: clockAt(999) }, { headers: {} }].map((changes) => {
      try {
        return verifyDelivery(changes);
      } catch (error) {
        return error instanceof VerificationError ? `${error.message} ${error.stack}` : error;
      }
    });
    expect(refusals.filter((text) => [SECRET, ...right].some((hidden) => String(text).includes(hidden)))).toEqual([]);
    expect(refusals).toHaveLength(3);
  });
});
