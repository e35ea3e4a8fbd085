import { createHash, X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Null, OctetString } from 'asn1js';
import { AlgorithmIdentifier, MessageImprint, TimeStampReq, TimeStampResp } from 'pkijs';
import {
  createDevelopmentAuthority,
  DEVELOPMENT_POLICY,
  type DevelopmentIdentity,
  keepDevelopmentIdentity,
  makeDevelopmentIdentity,
  requestTimestamp,
  TimestampRefused,
  verifyTimestamp,
} from './index.js';
import { OID } from './object-identifiers.js';

const DIGEST = createHash('sha256').update('a check').digest();
const now = () => new Date();

let identity: DevelopmentIdentity;
beforeAll(async () => {
  identity = await makeDevelopmentIdentity(now());
});

describe('the development authority', () => {
  it('stamps like a real one, and calls itself "development" wherever it is named', async () => {
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

  it('stamps with the time it is given, to the millisecond', async () => {
    const genTime = new Date('2026-11-20T12:00:00.120Z');
    const made = await makeDevelopmentIdentity(genTime);
    const { reply: send } = await createDevelopmentAuthority({ identity: made, now: () => genTime });
    const stamp = await requestTimestamp({ send, now: () => genTime })(DIGEST);
    expect(stamp.genTime).toEqual(genTime);
  });

  it('gives every token another number', async () => {
    const { reply: send } = await createDevelopmentAuthority({ identity, now });
    const ask = requestTimestamp({ send, now });
    const serials = await Promise.all(Array.from({ length: 20 }, async () => (await ask(DIGEST)).serial));
    expect(new Set(serials).size).toBe(20);
  });

  it('is nobody to whoever trusts other roots', async () => {
    const other = await makeDevelopmentIdentity(now());
    const { reply: send } = await createDevelopmentAuthority({ identity, now });
    const { tokenBytes } = await requestTimestamp({ send, now })(DIGEST);
    expect(verifyTimestamp({ tokenBytes, digest: DIGEST, trustedRoots: [identity.root] }).development).toBe(true);
    const judge = () => verifyTimestamp({ tokenBytes, digest: DIGEST, trustedRoots: [other.root] });
    expect(judge).toThrow(TimestampRefused);
  });

  it('rejects what it cannot stamp, in the words of RFC 3161', async () => {
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
    expect(await failure(queryOf('2.16.840.1.101.3.4.2.3', 64))).toEqual([2, '80']); // badAlg
    expect(await failure(queryOf(OID.sha256, 20))).toEqual([2, '04']);
    expect(await failure(queryOf(OID.sha256, 32, '1.2.3.4'))).toEqual([2, '0001']); // unacceptedPolicy
  });
});

describe('the kept identity', () => {
  const folders: string[] = [];
  const newFolder = () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'vat-identity-'));
    folders.push(folder);
    return path.join(folder, 'not', 'there', 'yet');
  };
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  });

  it('is made once, also when processes start together, and only its owner may read it', async () => {
    const folder = newFolder();
    const made = await Promise.all(Array.from({ length: 5 }, () => keepDevelopmentIdentity(folder, now())));
    expect(new Set(made.map(({ key }) => key)).size).toBe(1);
    expect(await keepDevelopmentIdentity(folder, now())).toEqual(made[0]);
    const [file = '', ...others] = readdirSync(folder);
    expect(others).toEqual([]);
    expect(statSync(path.join(folder, file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(path.join(folder, file), 'utf8'))).toEqual(made[0]);
  });

  it('says when it cannot be kept', async () => {
    await expect(keepDevelopmentIdentity('/dev/null/folder', now())).rejects.toThrow(/ENOTDIR/);
  });
});
