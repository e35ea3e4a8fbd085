import { type MailFacts, newUuid, publicId } from '@vat/domain';
import { anyText } from '@vat/testkit/any-text';
import fc from 'fast-check';
import { invitationLetter } from './invitation-letter.js';
import { notificationLetter } from './notification-letter.js';
import { oneLine } from './render-letter.js';

const BASE = 'https://vat.example.com';
const UNSUBSCRIBE = `${BASE}/unsubscribe/usr_1.quota.token`;
const AT = new Date('2026-11-23T10:02:03Z');

const letterOf = (facts: MailFacts, itemCount: number, accountName = 'Acme Ltd') =>
  notificationLetter({ itemCount, accountName, email: 'owner@example.com' }, facts, {
    baseUrl: BASE,
    unsubscribeUrl: UNSUBSCRIBE,
  });

const delivery = (statusCode: number | null, error: string | null) => ({
  ...{ id: newUuid(), eventType: 'check.completed', statusCode, error, at: AT },
});
const batch = (label: string | null, fileName: string | null) => ({
  ...{ id: newUuid(), label, fileName, total: 1_200, valid: 1_100, invalid: 98, failed: 2 },
});
const change = (
  of: { kind: 'validity'; before: boolean; after: boolean } | { kind: 'name'; before: string; after: string },
) => ({
  ...{ id: newUuid(), watchId: newUuid(), vatNumber: 'DE136695976', label: null, checkId: newUuid(), changedAt: AT },
  ...of,
});

test('one failed delivery is named with its reason, and the link leads to it', () => {
  const failed = delivery(503, null);
  const { subject, text } = letterOf({ kind: 'failed_deliveries', deliveries: [failed] }, 1);
  expect(subject).toBe('A webhook delivery failed');
  expect(text).toBe(`A webhook delivery failed for Acme Ltd

- check.completed: HTTP 503, last attempt 2026-11-23 10:02 UTC

Your endpoint did not accept the events, and all attempts are used up. They are not sent again by themselves.

Correct the endpoint, then resend the deliveries from the dashboard.

View the delivery: ${BASE}/app/deliveries/${publicId('delivery', failed.id)}

-- 
VAT Validation Service
You get this because notifications about failed deliveries are on for owner@example.com.
Turn them off: ${UNSUBSCRIBE}
All notifications: ${BASE}/app/settings
`);
});

test('many failed deliveries are counted, and the first few are listed', () => {
  const deliveries = [delivery(null, 'TIMEOUT: no response in 10 s'), delivery(null, null)];
  const { subject, text, html } = letterOf({ kind: 'failed_deliveries', deliveries }, 1_234);
  expect(subject).toBe('1,234 webhook deliveries failed');
  for (const body of [text, html]) {
    expect(body).toContain('check.completed: TIMEOUT, last attempt');
    expect(body).toContain('check.completed: no response, last attempt');
    expect(body).toContain('and 1,232 more');
    expect(body).toContain(`${BASE}/app/deliveries?status=failed`);
  }
});

test('the quota is named with its month and what is left to do', () => {
  const facts = { kind: 'quota', percent: 80, taken: 1_600, quota: 2_000, period: '2026-11' } as const;
  const warned = letterOf(facts, 1);
  expect(warned.subject).toBe('80% of the checks of November 2026 are used');
  expect(warned.text).toContain('1,600 of 2,000 checks are used or reserved');
  expect(warned.text).toContain(
    'When all are used, further checks are refused with QUOTA_EXCEEDED until 1 December 2026',
  );
  const used = letterOf({ ...facts, percent: 100, taken: 2_000 }, 1);
  expect(used.subject).toBe('All checks of November 2026 are used');
  expect(used.text).not.toContain('and 0 more');
});

test('completed batches have their names and counts', () => {
  const one = letterOf({ kind: 'completed_batches', batches: [batch('Customers', 'file.csv')] }, 1);
  expect(one.subject).toBe('Batch Customers is complete');
  expect(one.text).toContain('- Customers: 1,200 lines, 1,100 valid, 98 not valid, 2 failed');
  const unnamed = batch(null, null);
  const two = letterOf({ kind: 'completed_batches', batches: [batch(null, 'file.csv'), unnamed] }, 2);
  expect(two.subject).toBe('2 batches are complete');
  expect(two.text).toContain(`- ${publicId('batch', unnamed.id)}: `);
});

test('changes of watches say what changed, without names and addresses of traders', () => {
  const ended = letterOf(
    { kind: 'watch_changes', changes: [change({ kind: 'validity', before: true, after: false })] },
    1,
  );
  expect(ended.subject).toBe('DE136695976 is no longer valid');
  const renamed = change({ kind: 'name', before: 'Secret GmbH', after: 'Other GmbH' });
  const back = change({ kind: 'validity', before: false, after: true });
  const two = letterOf({ kind: 'watch_changes', changes: [{ ...renamed, label: 'Supplier' }, back] }, 2);
  expect(two.subject).toBe('2 changes of watched numbers');
  expect(two.text).toContain('- DE136695976 has another name (Supplier)\n- DE136695976 is valid again');
  expect(JSON.stringify(two)).not.toContain('GmbH');
});

test('a name of any characters is text in HTML and one line in the subject', () => {
  fc.assert(
    fc.property(anyText({ minLength: 1, maxLength: 200 }), (name) => {
      const named = batch(name, null);
      const facts = { kind: 'completed_batches' as const, batches: [named] };
      const letters = [
        letterOf(facts, 1, name),
        invitationLetter({ accountName: name, invitedBy: name, role: 'member', url: `${BASE}/join`, expiresAt: AT }),
      ];
      const plain = [
        letterOf({ ...facts, batches: [{ ...named, label: 'A' }] }, 1, 'A'),
        invitationLetter({ accountName: 'A', invitedBy: 'A', role: 'member', url: `${BASE}/join`, expiresAt: AT }),
      ];
      letters.forEach(({ subject, html }, n) => {
        expect(subject).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u);
        expect([...subject].length).toBeLessThan(100);
        // The same elements as with a harmless name.
        const tags = (text = '') => text.match(/<[^>]*>/g);
        expect(tags(html)).toEqual(tags(plain[n]?.html));
      });
    }),
  );
  expect(oneLine('a\r\nBcc: b\u202e\u0000c', 80)).toBe('a Bcc: b c');
  expect(oneLine('x'.repeat(100), 10)).toBe(`${'x'.repeat(9)}…`);
});

test('mail loads nothing from anywhere', () => {
  const { html } = letterOf({ kind: 'failed_deliveries', deliveries: [delivery(500, null)] }, 1);
  expect(html).not.toMatch(/<(img|link|script|iframe|video|audio|object)|url\(|@import/i);
});
