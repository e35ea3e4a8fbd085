import { createHash, X509Certificate } from 'node:crypto';
import { Integer, Null, ObjectIdentifier, OctetString } from 'asn1js';
import fc from 'fast-check';
import {
  Accuracy,
  AlgorithmIdentifier,
  Attribute,
  type Certificate,
  type Extension,
  MessageImprint,
  Extension as NewExtension,
} from 'pkijs';
import { createQuerySender } from './create-query-sender.js';
import {
  authorityExtensions,
  type Forgery,
  forgeReply,
  type Holder,
  hold,
  namesCertificate,
  unitExtensions,
} from './forge-reply.fixture.js';
import { requestTimestamp, type TimestampRefusal, TimestampRefused, verifyTimestamp } from './index.js';
import { type LocalAuthority, replying, startAuthority } from './local-authority.fixture.js';
import { OID } from './object-identifiers.js';

const DIGEST = createHash('sha256').update('a check').digest();
const DAY_MS = 86_400_000;
const ago = (days: number) => new Date(Date.now() - days * DAY_MS);

/** Who signs, and what the token carries besides the unit's own certificate. */
type Authority = { unit: Holder; chain: Holder[] };

let root: Holder;
let issuing: Holder;
let unit: Holder;
let server: LocalAuthority;
let reply: (query: Uint8Array) => Promise<Uint8Array>;
let received: Uint8Array;

const pemOf = (certificate: Certificate) =>
  new X509Certificate(new Uint8Array(certificate.toSchema(true).toBER())).toString();

beforeAll(async () => {
  root = await hold({ subject: 'Test root', issuer: null, extensions: authorityExtensions() });
  issuing = await hold({ subject: 'Test issuing', issuer: root, extensions: authorityExtensions(0) });
  unit = await hold({ subject: 'Test unit', issuer: issuing, extensions: unitExtensions() });
  server = await startAuthority(
    replying(async (query) => {
      received = await reply(query);
      return received;
    }),
  );
});
afterAll(() => server.close());

type Terms = { trustedRoots?: string[]; acceptedPolicies?: string[] };

/** Asks the local authority over HTTP while it answers with this forgery. */
const ask = async (
  forgery: Forgery,
  { unit: by, chain }: Authority = { unit, chain: [issuing, root] },
  terms: Terms = {},
) => {
  reply = (query) => forgeReply(query, by, chain, forgery);
  const { send, close } = createQuerySender({ url: server.url, deadlineMs: 10_000 });
  try {
    return await requestTimestamp({ send, now: () => new Date(), ...terms })(DIGEST);
  } finally {
    close();
  }
};
const refusalOf = async (...asked: Parameters<typeof ask>): Promise<TimestampRefusal | 'none'> => {
  try {
    await ask(...asked);
    return 'none';
  } catch (error) {
    if (error instanceof TimestampRefused) return error.refusal;
    throw error;
  }
};

const unitWith = async (extensions: Extension[]): Promise<Authority> => ({
  unit: await hold({ subject: 'Test unit', issuer: issuing, extensions }),
  chain: [issuing, root],
});
const imprint = (algorithm: string, bytes: Uint8Array) =>
  new MessageImprint({
    hashAlgorithm: new AlgorithmIdentifier({ algorithmId: algorithm, algorithmParams: new Null() }),
    hashedMessage: new OctetString({ valueHex: Uint8Array.from(bytes) }),
  });
const without = (type: string) => (honest: Attribute[]) => honest.filter((attribute) => attribute.type !== type);
const instead = (type: string, value: OctetString | ObjectIdentifier) => (honest: Attribute[]) => [
  ...without(type)(honest),
  new Attribute({ type, values: [value] }),
];

describe('an honest answer', () => {
  it('gives the facts, the bytes as they came, and the chain', async () => {
    const stamp = await ask({
      info: (info) => {
        info.accuracy = new Accuracy({ seconds: 1, millis: 500, micros: 1 });
      },
    });
    expect(stamp).toMatchObject({
      ...{ serial: '4d', policy: '1.2.3.4', authority: 'Test unit', development: false, accuracyMs: 1_501 },
    });
    expect(Math.abs(stamp.genTime.getTime() - Date.now())).toBeLessThan(60_000);
    expect(Buffer.from(stamp.tokenBytes).equals(received)).toBe(true);
    expect(stamp.certificates).toEqual([unit, issuing, root].map(({ certificate }) => pemOf(certificate)));
  });

  it('verifies later from its bytes and the digest alone', async () => {
    const { tokenBytes, ...facts } = await ask({});
    expect(verifyTimestamp({ tokenBytes, digest: DIGEST })).toMatchObject(facts);
    const other = createHash('sha256').update('another check').digest();
    expect(() => verifyTimestamp({ tokenBytes, digest: other })).toThrow(TimestampRefused);
  });

  it('may carry its certificates in any order, or none above the unit when the root is known', async () => {
    const certificates = [root, unit, issuing].map(({ certificate }) => certificate);
    expect((await ask({ certificates })).certificates).toHaveLength(3);
    const alone = { certificates: [unit.certificate] };
    expect((await ask(alone)).certificates).toHaveLength(1);
    const trustedRoots = [pemOf(issuing.certificate)];
    expect((await ask(alone, undefined, { trustedRoots })).certificates).toHaveLength(2);
  });

  it('may name its certificate by SHA-1, as older authorities do', async () => {
    const attributes = (honest: Attribute[]) => [
      ...without(OID.signingCertificateV2)(honest),
      namesCertificate(unit.certificate, 1),
    ];
    expect(await refusalOf({ attributes })).toBe('none');
  });

  it('is of an accepted policy, where some are named', async () => {
    expect(await refusalOf({}, undefined, { acceptedPolicies: ['1.2.3.4'] })).toBe('none');
    expect(await refusalOf({}, undefined, { acceptedPolicies: ['1.2.3.5'] })).toBe('wrong_policy');
  });
});

describe('a hostile answer', () => {
  const forgeries: [string, TimestampRefusal, Forgery][] = [
    ['a rejection', 'not_granted', { status: { status: 2, text: 'out of service' } }],
    ['a token to come later', 'not_granted', { status: { status: 3 } }],
    ['granted without a token', 'wrong_content', { status: { status: 0 } }],
    ['other content than a TSTInfo', 'wrong_content', { contentType: '1.2.840.113549.1.7.1' }],
    [
      'the nonce of another query',
      'wrong_nonce',
      {
        info: (info) => {
          info.nonce = new Integer({ value: 5 });
        },
      },
    ],
    [
      'no nonce',
      'wrong_nonce',
      {
        info: (info) => {
          delete info.nonce;
        },
      },
    ],
    [
      'the imprint of something else',
      'wrong_imprint',
      {
        info: (info) => {
          info.messageImprint = imprint(OID.sha256, createHash('sha256').update('else').digest());
        },
      },
    ],
    [
      'an imprint of another hash function',
      'wrong_imprint_algorithm',
      {
        info: (info) => {
          info.messageImprint = imprint('2.16.840.1.101.3.4.2.8', DIGEST);
        },
      },
    ],
    [
      'a time ten minutes ahead',
      'wrong_time',
      {
        info: (info) => {
          info.genTime = new Date(Date.now() + 600_000);
        },
      },
    ],
    [
      'a time ten minutes ago',
      'wrong_time',
      {
        info: (info) => {
          info.genTime = new Date(Date.now() - 600_000);
        },
      },
    ],
    [
      'an accuracy of an hour',
      'wrong_accuracy',
      {
        info: (info) => {
          info.accuracy = new Accuracy({ seconds: 3600 });
        },
      },
    ],
    ['two signers', 'wrong_signers', { signers: 2 }],
    ['no signer', 'wrong_signers', { signers: 0 }],
    ['no certificate', 'no_certificate', { certificates: [] }],
    ['no name of its certificate', 'wrong_signing_certificate', { attributes: without(OID.signingCertificateV2) }],
    ['no signed content type', 'wrong_attributes', { attributes: without(OID.contentType) }],
    [
      'another signed content type',
      'wrong_attributes',
      { attributes: instead(OID.contentType, new ObjectIdentifier({ value: '1.2.840.113549.1.7.1' })) },
    ],
    [
      'an attribute twice',
      'wrong_attributes',
      { attributes: (honest) => [...honest, namesCertificate(unit.certificate)] },
    ],
    ['no message digest', 'wrong_message_digest', { attributes: without(OID.messageDigest) }],
    [
      'the message digest of other content',
      'wrong_message_digest',
      { attributes: instead(OID.messageDigest, new OctetString({ valueHex: new Uint8Array(32) })) },
    ],
    [
      'content that was changed after signing',
      'wrong_message_digest',
      // The last byte of the content is the last of the nonce only in honest tokens; the serial (77) is changed instead.
      {
        tampered: (info) => info.map((byte, i) => (byte === 77 && info[i - 1] === 1 && info[i - 2] === 2 ? 78 : byte)),
      },
    ],
    [
      'a signature that does not hold',
      'wrong_signature',
      { signature: (bytes) => bytes.map((byte, i) => (i === 20 ? byte ^ 1 : byte)) },
    ],
    ['an empty signature', 'wrong_signature', { signature: () => new Uint8Array() }],
    ['no signature algorithm we know', 'unknown_algorithm', { signatureAlgorithm: '1.2.840.113549.1.1.5' }],
    ['an algorithm for another kind of key', 'unknown_algorithm', { signatureAlgorithm: '1.2.840.113549.1.1.11' }],
    ['SHA-1', 'unknown_algorithm', { digestAlgorithm: '1.3.14.3.2.26' }],
  ];
  it.each(forgeries)('is refused: %s', async (_, refusal, forgery) => {
    expect(await refusalOf(forgery)).toBe(refusal);
  });

  it('is refused: the name of another certificate', async () => {
    const attributes = (honest: Attribute[]) => [
      ...without(OID.signingCertificateV2)(honest),
      namesCertificate(issuing.certificate),
    ];
    expect(await refusalOf({ attributes })).toBe('wrong_signing_certificate');
  });

  it('says what the authority said when it rejects', async () => {
    await expect(ask({ status: { status: 2, text: 'out of service' } })).rejects.toThrow(/status 2: out of service/);
  });
});

describe("a hostile authority's certificate", () => {
  const purposes: [string, Parameters<typeof unitExtensions>[0]][] = [
    ['for nothing in particular', { purposes: [] }],
    ['for servers', { purposes: ['1.3.6.1.5.5.7.3.1'] }],
    ['for servers too', { purposes: [OID.timeStamping, '1.3.6.1.5.5.7.3.1'] }],
    ['for time-stamping, but not critically', { critical: false }],
    ['for signing certificates too', { usage: 0b1000_0100 }],
    ['for encryption only', { usage: 0b0010_0000 }],
  ];
  it.each(purposes)('is refused when it is %s', async (_, extensions) => {
    expect(await refusalOf({}, await unitWith(unitExtensions(extensions)))).toBe('wrong_purpose');
  });

  it('is refused when a critical extension of it is not understood', async () => {
    const unknown = new NewExtension({ extnID: '1.2.3.4.5', critical: true, extnValue: new Null().toBER() });
    expect(await refusalOf({}, await unitWith([...unitExtensions(), unknown]))).toBe('wrong_chain');
  });

  it('is refused when it, or one above it, was not valid at the time given', async () => {
    const chain = [issuing, root];
    const of = (issuer: Holder, from: Date, to: Date) =>
      hold({ subject: 'Test unit', issuer, from, to, extensions: unitExtensions() });
    expect(await refusalOf({}, { unit: await of(issuing, ago(9), ago(1)), chain })).toBe('wrong_chain');
    expect(await refusalOf({}, { unit: await of(issuing, ago(-1), ago(-9)), chain })).toBe('wrong_chain');
    const expired = { from: ago(9), to: ago(1), extensions: authorityExtensions() };
    const lapsed = await hold({ subject: 'Lapsed issuing', issuer: root, ...expired });
    const below = await of(lapsed, ago(1), ago(-1));
    expect(await refusalOf({}, { unit: below, chain: [lapsed, root] })).toBe('wrong_chain');
  });

  it('verifies after it has expired, when it was valid at the time given', async () => {
    const past = { from: ago(9), to: ago(1) };
    const oldRoot = await hold({ subject: 'Old root', issuer: null, extensions: authorityExtensions(), ...past });
    const oldUnit = await hold({ subject: 'Old unit', issuer: oldRoot, extensions: unitExtensions(), ...past });
    const at = new Date(Math.floor(ago(5).getTime() / 1000) * 1000);
    const stampedThen: Forgery = {
      info: (info) => {
        info.genTime = at;
      },
    };
    expect(await refusalOf(stampedThen, { unit: oldUnit, chain: [oldRoot] })).toBe('wrong_time');
    expect(verifyTimestamp({ tokenBytes: received, digest: DIGEST }).genTime).toEqual(at);
  });

  it('is refused when its chain is broken', async () => {
    const impostor = await hold({ subject: 'Test issuing', issuer: root, extensions: authorityExtensions() });
    // The unit names an issuer that did not sign it: by key, by key identifier alike.
    expect(await refusalOf({}, { unit, chain: [impostor, root] })).toBe('wrong_chain');
    const forged = await hold({
      ...{ subject: 'Test unit', issuer: issuing, signedBy: impostor.keys, extensions: unitExtensions() },
    });
    expect(await refusalOf({}, { unit: forged, chain: [issuing, root] })).toBe('wrong_chain');
  });

  it('is refused when its issuer is no authority, or none so far down', async () => {
    const plain = await hold({ subject: 'Plain', issuer: root, extensions: unitExtensions() });
    const byPlain = await hold({ subject: 'Test unit', issuer: plain, extensions: unitExtensions() });
    expect(await refusalOf({}, { unit: byPlain, chain: [plain, root] })).toBe('wrong_chain');
    // `issuing` may have no authority below it.
    const deeper = await hold({ subject: 'Deeper', issuer: issuing, extensions: authorityExtensions() });
    const tooDeep = await hold({ subject: 'Test unit', issuer: deeper, extensions: unitExtensions() });
    expect(await refusalOf({}, { unit: tooDeep, chain: [deeper, issuing, root] })).toBe('wrong_chain');
  });

  it('is refused when it leads to none of the trusted roots', async () => {
    const stranger = await hold({ subject: 'Test root', issuer: null, extensions: authorityExtensions() });
    const both = { unit, chain: [issuing, root] };
    expect(await refusalOf({}, both, { trustedRoots: [pemOf(stranger.certificate)] })).toBe('wrong_chain');
    expect(await refusalOf({}, both, { trustedRoots: [pemOf(root.certificate)] })).toBe('none');
    const two = [pemOf(stranger.certificate), pemOf(root.certificate)];
    expect(await refusalOf({}, both, { trustedRoots: two })).toBe('none');
    expect(await refusalOf({}, { unit, chain: [] }, { trustedRoots: [pemOf(root.certificate)] })).toBe('wrong_chain');
  });

  it('ends the search when authorities issued each other', async () => {
    const one = await hold({ subject: 'One', issuer: null, extensions: authorityExtensions() });
    const two = await hold({ subject: 'Two', issuer: one, extensions: authorityExtensions() });
    const oneByTwo = await hold({ subject: 'One', issuer: two, extensions: authorityExtensions() });
    const below = await hold({ subject: 'Test unit', issuer: oneByTwo, extensions: unitExtensions() });
    const chain = [oneByTwo, two, one];
    expect(await refusalOf({}, { unit: below, chain })).toBe('none');
    expect(await refusalOf({}, { unit: below, chain }, { trustedRoots: [pemOf(root.certificate)] })).toBe(
      'wrong_chain',
    );
  });
});

describe('any bytes', () => {
  it('are verified or refused by name, and one changed byte never changes what a verified token says', async () => {
    const { tokenBytes, genTime, policy, serial, authority } = await ask({});
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
      { numRuns: 150 },
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
      { numRuns: 50 },
    );
    expect(verdict(Buffer.concat([tokenBytes, Buffer.of(0)]))).toBeNull();
  });
});
