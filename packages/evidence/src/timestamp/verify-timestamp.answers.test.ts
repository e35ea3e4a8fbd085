import { createHash } from 'node:crypto';
import { Constructed, Integer, Null, ObjectIdentifier, OctetString, Primitive, Sequence } from 'asn1js';
import { Accuracy, AlgorithmIdentifier, Attribute, MessageImprint } from 'pkijs';
import type { Forgery } from './forge-reply.fixture.js';
import { OID } from './object-identifiers.js';
import { DIGEST, type Forger, openForger, without } from './open-forger.fixture.js';
import { signingCertificateOf } from './sign-token.js';
import type { TimestampRefusal } from './timestamp.js';

let forger: Forger;
beforeAll(async () => {
  forger = await openForger();
});
afterAll(() => forger?.close());

const imprint = (algorithm: string, bytes: Uint8Array) =>
  new MessageImprint({
    hashAlgorithm: new AlgorithmIdentifier({ algorithmId: algorithm, algorithmParams: new Null() }),
    hashedMessage: new OctetString({ valueHex: Uint8Array.from(bytes) }),
  });
const instead = (type: string, value: OctetString | ObjectIdentifier) => (honest: Attribute[]) => [
  ...without(type)(honest),
  new Attribute({ type, values: [value] }),
];

/** Replaces the hash function in every field of the token. */
const digestedBy: (algorithmId: string) => NonNullable<Forgery['signed']> =
  (algorithmId) =>
  ({ digestAlgorithms, signerInfos }) => {
    for (const listed of digestAlgorithms) listed.algorithmId = algorithmId;
    for (const { digestAlgorithm } of signerInfos) digestAlgorithm.algorithmId = algorithmId;
  };

/** Declares an RSA-PSS signature with SHA-256 and the usual parameters, except for the given ones. */
const signedWithPss =
  (given: { digest?: string; mask?: string; generator?: string; trailer?: number }): NonNullable<Forgery['signed']> =>
  ({ signerInfos: [signer] }) => {
    const { digest = OID.sha256, generator = OID.maskGeneration1, trailer = 1 } = given;
    const { mask = digest } = given;
    const algorithm = (algorithmId: string) => new AlgorithmIdentifier({ algorithmId }).toSchema();
    const masking = new AlgorithmIdentifier({ algorithmId: generator, algorithmParams: algorithm(mask) }).toSchema();
    const values = [algorithm(digest), masking, new Integer({ value: 32 }), new Integer({ value: trailer })];
    const algorithmParams = new Sequence({
      value: values.map((value, tagNumber) => new Constructed({ idBlock: { tagClass: 3, tagNumber }, value: [value] })),
    });
    if (signer) signer.signatureAlgorithm = new AlgorithmIdentifier({ algorithmId: OID.rsaPss, algorithmParams });
  };

describe('a hostile answer', () => {
  const forgeries: [string, TimestampRefusal, Forgery][] = [
    ['a rejection', 'not_granted', { status: { status: 2, text: 'out of service' } }],
    ['a token to come later', 'not_granted', { status: { status: 3 } }],
    ['granted with modifications', 'not_granted', { status: { status: 1 } }],
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
      { attributes: (honest) => [...honest, signingCertificateOf(forger.unit.certificate)] },
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
      'an invalid signature',
      'wrong_signature',
      { signature: (bytes) => bytes.map((byte, i) => (i === 20 ? byte ^ 1 : byte)) },
    ],
    ['an empty signature', 'wrong_signature', { signature: () => new Uint8Array() }],
    ['no signature algorithm we know', 'unknown_algorithm', { signatureAlgorithm: '1.2.840.113549.1.1.5' }],
    ['an algorithm for another kind of key', 'unknown_algorithm', { signatureAlgorithm: '1.2.840.113549.1.1.11' }],
    ['SHA-1', 'unknown_algorithm', { signed: digestedBy('1.3.14.3.2.26') }],
    ['RSA-PSS without parameters', 'unsupported_form', { signatureAlgorithm: OID.rsaPss }],
    ['RSA-PSS with a key that is not an RSA key', 'unknown_algorithm', { signed: signedWithPss({}) }],
    ['RSA-PSS with another hash function', 'unsupported_form', { signed: signedWithPss({ digest: OID.sha512 }) }],
    [
      'RSA-PSS with another hash function in its mask',
      'unsupported_form',
      { signed: signedWithPss({ mask: OID.sha512 }) },
    ],
    ['RSA-PSS with another mask', 'unsupported_form', { signed: signedWithPss({ generator: '1.2.3.4' }) }],
    ['RSA-PSS with another trailer', 'unsupported_form', { signed: signedWithPss({ trailer: 2 }) }],
    ['a signature with another hash function', 'unsupported_form', { signatureAlgorithm: '1.2.840.10045.4.3.4' }],
    ['another digest than it lists', 'unsupported_form', { digestAlgorithm: '2.16.840.1.101.3.4.2.3' }],
    [
      'a second digest algorithm',
      'unsupported_form',
      {
        signed: ({ digestAlgorithms }) =>
          void digestAlgorithms.push(new AlgorithmIdentifier({ algorithmId: '2.16.840.1.101.3.4.2.3' })),
      },
    ],
    [
      'an algorithm with parameters',
      'unsupported_form',
      {
        signed: ({ signerInfos: [signer] }) => {
          if (signer) signer.signatureAlgorithm.algorithmParams = new Integer({ value: 1 });
        },
      },
    ],
    [
      'its signer by a key identifier',
      'unsupported_form',
      {
        signed: ({ signerInfos: [signer] }) => {
          const keyIdentifier = new Primitive({ idBlock: { tagClass: 3, tagNumber: 0 }, valueHex: new Uint8Array(20) });
          if (signer) signer.sid = keyIdentifier;
        },
      },
    ],
  ];
  it.each(forgeries)('is refused: %s', async (_, refusal, forgery) => {
    expect(await forger.refusalOf(forgery)).toBe(refusal);
  });

  it('is refused: the name of another certificate', async () => {
    const attributes = (honest: Attribute[]) => [
      ...without(OID.signingCertificateV2)(honest),
      signingCertificateOf(forger.issuing.certificate),
    ];
    expect(await forger.refusalOf({ attributes })).toBe('wrong_signing_certificate');
  });

  it('reports the text of the authority after a rejection', async () => {
    await expect(forger.request({ status: { status: 2, text: 'out of service' } })).rejects.toThrow(
      /status 2: out of service/,
    );
    // Postgres refuses U+0000: the failure could never be recorded.
    await expect(forger.request({ status: { status: 2, text: 'out\0of\nservice' } })).rejects.toThrow(
      /status 2: out of service/,
    );
  });
});
