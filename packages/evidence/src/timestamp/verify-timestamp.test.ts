import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { Accuracy, type Attribute } from 'pkijs';
import { certificatePem } from './issue-certificate.js';
import { OID } from './object-identifiers.js';
import { DIGEST, type Forger, openForger, without } from './open-forger.fixture.js';
import { signingCertificateOf } from './sign-token.js';
import { TimestampRefused } from './timestamp.js';
import { verifyTimestamp } from './verify-timestamp.js';

let forger: Forger;
beforeAll(async () => {
  forger = await openForger();
});
afterAll(() => forger?.close());

describe('an honest answer', () => {
  it('gives the facts, the unchanged bytes and the chain', async () => {
    const { issuing, root, unit } = forger;
    const stamp = await forger.request({
      info: (info) => {
        info.accuracy = new Accuracy({ seconds: 1, millis: 500, micros: 1 });
      },
    });
    expect(stamp).toMatchObject({
      ...{ serial: '4d', policy: '1.2.3.4', authority: 'Test unit', development: false, accuracyMs: 1_501 },
    });
    expect(Math.abs(stamp.genTime.getTime() - Date.now())).toBeLessThan(60_000);
    expect(Buffer.from(stamp.tokenBytes).equals(forger.lastReply())).toBe(true);
    expect(stamp.certificates).toEqual([unit, issuing, root].map(({ certificate }) => certificatePem(certificate)));
  });

  it('verifies later with only its bytes and the digest', async () => {
    const { tokenBytes, ...facts } = await forger.request({});
    expect(verifyTimestamp({ tokenBytes, digest: DIGEST })).toMatchObject(facts);
    const other = createHash('sha256').update('another check').digest();
    expect(() => verifyTimestamp({ tokenBytes, digest: other })).toThrow(TimestampRefused);
  });

  it('may contain its certificates in any order, or only that of the unit if the root is known', async () => {
    const { issuing, root, unit } = forger;
    const certificates = [root, unit, issuing].map(({ certificate }) => certificate);
    expect((await forger.request({ certificates })).certificates).toHaveLength(3);
    const alone = { certificates: [unit.certificate] };
    expect((await forger.request(alone)).certificates).toHaveLength(1);
    const trustedRoots = [certificatePem(issuing.certificate)];
    expect((await forger.request(alone, undefined, { trustedRoots })).certificates).toHaveLength(2);
  });

  it('may name its certificate by SHA-1, like older authorities', async () => {
    const { unit } = forger;
    const attributes = (honest: Attribute[]) => [
      ...without(OID.signingCertificateV2)(honest),
      signingCertificateOf(unit.certificate, 1),
    ];
    expect(await forger.refusalOf({ attributes })).toBe('none');
  });
});

describe('any bytes', () => {
  it('are verified or refused with a reason, and one changed byte never changes the content of a verified token', async () => {
    const { tokenBytes, genTime, policy, serial, authority } = await forger.request({});
    const verdict = (bytes: Uint8Array) => {
      try {
        return verifyTimestamp({ tokenBytes: bytes, digest: DIGEST });
      } catch (error) {
        if (error instanceof TimestampRefused) return null;
        throw error;
      }
    };
    const change = fc.record({ at: fc.nat({ max: tokenBytes.length - 1 }), by: fc.integer({ min: 1, max: 255 }) });
    fc.assert(
      fc.property(change, ({ at, by }) => {
        const verified = verdict(tokenBytes.map((byte, i) => (i === at ? byte ^ by : byte)));
        if (verified) expect(verified).toMatchObject({ genTime, policy, serial, authority });
      }),
      { numRuns: 50 },
    );
    fc.assert(
      fc.property(fc.nat({ max: tokenBytes.length - 1 }), (length) => {
        expect(verdict(tokenBytes.subarray(0, length))).toBeNull();
      }),
      { numRuns: 25 },
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(verdict(bytes)).toBeNull();
      }),
      { numRuns: 30 },
    );
    expect(verdict(Buffer.concat([tokenBytes, Buffer.of(0)]))).toBeNull();
  });
});
