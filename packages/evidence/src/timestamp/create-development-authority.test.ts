import { createHash, X509Certificate } from 'node:crypto';
import { Null, OctetString } from 'asn1js';
import { AlgorithmIdentifier, MessageImprint, TimeStampReq, TimeStampResp } from 'pkijs';
import { requestTimestamp } from './create-timestamper.js';
import {
  createDevelopmentAuthority,
  type DevelopmentAuthority,
  type DevelopmentIdentity,
  makeDevelopmentIdentity,
  openDevelopmentAuthority,
  type SealedIdentity,
} from './development-authority.js';
import { DEVELOPMENT_POLICY, OID } from './object-identifiers.js';
import { TimestampRefused } from './timestamp.js';
import { verifyTimestamp } from './verify-timestamp.js';

const DIGEST = createHash('sha256').update('a check').digest();
const now = () => new Date();

let identity: DevelopmentIdentity;
beforeAll(async () => {
  identity = await makeDevelopmentIdentity(now());
});

describe('the development authority', () => {
  it('stamps like a real authority, and all its names contain "development"', async () => {
    const { reply: send } = await createDevelopmentAuthority({ identity, now });
    const stamp = await requestTimestamp({ send, now })(DIGEST);
    expect(stamp).toMatchObject({ development: true, policy: DEVELOPMENT_POLICY, accuracyMs: 1_000 });
    expect(stamp.authority).toMatch(/development/);
    expect(stamp.certificates).toEqual([identity.certificate, identity.root]);
    const names = stamp.certificates.map((pem) => new X509Certificate(pem).subject);
    for (const name of names) expect(name).toMatch(/development/);
    const spelt = DEVELOPMENT_POLICY.split('.').slice(2).map(Number);
    expect(Buffer.from(spelt).toString()).toBe('development');
  });

  it('stamps with the given time, to the millisecond', async () => {
    const genTime = new Date('2026-11-20T12:00:00.120Z');
    const made = await makeDevelopmentIdentity(genTime);
    const { reply: send } = await createDevelopmentAuthority({ identity: made, now: () => genTime });
    const stamp = await requestTimestamp({ send, now: () => genTime })(DIGEST);
    expect(stamp.genTime).toEqual(genTime);
  });

  it('gives every token a different serial number', async () => {
    const { reply: send } = await createDevelopmentAuthority({ identity, now });
    const request = requestTimestamp({ send, now });
    const serials = await Promise.all(Array.from({ length: 20 }, async () => (await request(DIGEST)).serial));
    expect(new Set(serials).size).toBe(20);
  });

  it('is refused by verifiers with other trusted roots', async () => {
    const other = await makeDevelopmentIdentity(now());
    const { reply: send } = await createDevelopmentAuthority({ identity, now });
    const { tokenBytes } = await requestTimestamp({ send, now })(DIGEST);
    expect(verifyTimestamp({ tokenBytes, digest: DIGEST, trustedRoots: [identity.root] }).development).toBe(true);
    const verify = () => verifyTimestamp({ tokenBytes, digest: DIGEST, trustedRoots: [other.root] });
    expect(verify).toThrow(TimestampRefused);
  });

  it('rejects unsupported requests with the failure codes of RFC 3161', async () => {
    const { reply } = await createDevelopmentAuthority({ identity, now });
    const failure = async (query: Uint8Array) => {
      const { status, timeStampToken } = TimeStampResp.fromBER(Uint8Array.from(await reply(query)));
      expect(timeStampToken).toBeUndefined();
      return [status.status, status.failInfo && Buffer.from(status.failInfo.valueBlock.valueHexView).toString('hex')];
    };
    const queryOf = (algorithm: string, length: number, policy?: string) =>
      Buffer.from(
        new TimeStampReq({
          version: 1,
          messageImprint: new MessageImprint({
            hashAlgorithm: new AlgorithmIdentifier({ algorithmId: algorithm, algorithmParams: new Null() }),
            hashedMessage: new OctetString({ valueHex: new Uint8Array(length) }),
          }),
          ...(policy === undefined ? {} : { reqPolicy: policy }),
        })
          .toSchema()
          .toBER(),
      );
    expect(await failure(Buffer.from('no query'))).toEqual([2, '04']); // badDataFormat
    expect(await failure(queryOf('2.16.840.1.101.3.4.2.8', 32))).toEqual([2, '80']); // badAlg
    expect(await failure(queryOf(OID.sha512, 32))).toEqual([2, '04']);
    expect(await failure(queryOf(OID.sha256, 20))).toEqual([2, '04']);
    expect(await failure(queryOf(OID.sha256, 32, '1.2.3.4'))).toEqual([2, '0001']); // unacceptedPolicy
  });
});

describe('the authority that processes share', () => {
  const openStore = () => {
    let stored: SealedIdentity | null = null;
    const store = async (made: SealedIdentity, instead: SealedIdentity | null) => {
      if (stored?.certificate === instead?.certificate) stored = made;
    };
    return { find: async () => stored, store };
  };
  const stampWith = async (open: () => Promise<DevelopmentAuthority>) => {
    const { reply: send } = await open();
    return requestTimestamp({ send, now })(DIGEST);
  };

  it('is made once, also by processes that start together, and its key is stored sealed', async () => {
    const identities = openStore();
    const open = openDevelopmentAuthority({ ...identities, masterKey: 'one master key', now });
    const stamps = await Promise.all(Array.from({ length: 5 }, () => stampWith(open)));
    const stored = await identities.find();
    expect(new Set(stamps.map(({ certificates }) => certificates[0]))).toEqual(new Set([stored?.certificate]));
    expect(Buffer.from(stored?.keySealed ?? []).includes('PRIVATE KEY')).toBe(false);
  });

  it('is made again with another master key, and its earlier tokens still verify', async () => {
    const identities = openStore();
    const before = await stampWith(openDevelopmentAuthority({ ...identities, masterKey: 'one master key', now }));
    const after = await stampWith(openDevelopmentAuthority({ ...identities, masterKey: 'another master key', now }));
    expect(after.certificates[0]).not.toBe(before.certificates[0]);
    expect(verifyTimestamp({ tokenBytes: before.tokenBytes, digest: DIGEST }).serial).toBe(before.serial);
  });

  it('reports a damaged stored identity instead of replacing it', async () => {
    const identities = openStore();
    const open = openDevelopmentAuthority({ ...identities, masterKey: 'one master key', now });
    await open();
    const stored = (await identities.find()) as SealedIdentity;
    const damaged = Buffer.from(stored.keySealed);
    damaged[damaged.length - 1] = (damaged.at(-1) ?? 0) ^ 1;
    await identities.store({ ...stored, keySealed: damaged }, stored);
    await expect(open()).rejects.toThrow('integrity');
  });
});
