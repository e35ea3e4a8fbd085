import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RunTool } from '@vat/testkit';

/** A time-stamping authority made only with openssl, so that tests do not depend on our own implementation. */
export type TestAuthority = {
  /** PEM. */
  root: string;
  intermediate: string;
  /** The root's name and key, certified by another authority that verifiers need not know; it is in every token. */
  crossSigned: string | null;
  /** Resolves to a TimeStampResp for `bytes`. */
  stamp: (bytes: Uint8Array) => Promise<Buffer>;
  /** The same with RSA-PSS, without the attribute that names the signer's certificate. */
  stampUnnamed: (bytes: Uint8Array) => Promise<Buffer>;
  close: () => Promise<void>;
};

const CA = 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\nsubjectKeyIdentifier=hash\n';
/** The object identifier of a TSTInfo. */
const TIMESTAMP_INFO = '1.2.840.113549.1.9.16.1.4';
const UNIT =
  'basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=critical,timeStamping\n' +
  'subjectKeyIdentifier=hash\n';
/** Kinds of signing keys. */
export const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
export const RSA = ['-newkey', 'rsa:2048'];

/** The keys and algorithms of an authority. */
type Terms = {
  /** The policy in its tokens. */
  policy?: string;
  key?: readonly string[];
  /** The kind of the unit's key, if it differs from those above it. */
  unitKey?: readonly string[];
  crossSigned?: boolean;
  /** The hash functions of the imprint and of the signature. */
  imprint?: 'sha256' | 'sha384' | 'sha512';
  digest?: 'sha256' | 'sha384' | 'sha512';
  /** Signs with RSA-PSS; `unitKey` must be RSA. */
  pss?: boolean;
  /** With RSA-PSS: signs with another certificate, which has these extensions. */
  signWith?: string;
};

const configuration = (policy: string, digest: string) => `[tsa]
default_tsa = t
[t]
serial = ./serial
crypto_device = builtin
signer_cert = ./unit.pem
certs = ./chain.pem
signer_key = ./unit.key
signer_digest = ${digest}
default_policy = ${policy}
digests = sha256, sha384, sha512
accuracy = secs:1
clock_precision_digits = 3
ess_cert_id_alg = sha256
`;

/** An ASN.1 element in DER. */
const der = (tag: number, ...content: Uint8Array[]): Buffer => {
  const body = Buffer.concat(content);
  const length = body.length < 0x80 ? [body.length] : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...length), body]);
};
/** The certificates that issue others. */
const CAS = ['root', 'intermediate', 'elder'];
/** PKIStatusInfo of a granted answer. */
const GRANTED = der(0x30, Buffer.of(2, 1, 0));

/** Makes an authority whose certificate names start with `name`. */
export const makeTestAuthority = async (
  run: RunTool,
  name: string,
  {
    policy = '1.3.6.1.4.1.99999.1.1',
    key = EC,
    unitKey = key,
    crossSigned = false,
    imprint = 'sha256',
    digest = 'sha256',
    pss = false,
    signWith,
  }: Terms = {},
): Promise<TestAuthority> => {
  const folder = await mkdtemp(path.join(tmpdir(), 'vat-tsa-'));
  const openssl = async (...args: string[]) => {
    const { code, output } = await run('openssl', args, folder);
    if (code !== 0) throw new Error(`openssl ${args.join(' ')}: ${output}`);
  };
  const issue = async (what: string, issuer: string, extensions: string) => {
    await writeFile(path.join(folder, `${what}.ext`), extensions);
    await openssl(
      'req',
      '-new',
      ...(CAS.includes(what) ? key : unitKey),
      '-nodes',
      '-keyout',
      `${what}.key`,
      '-subj',
      `/C=EU/O=Tests/CN=${name} ${what}`,
      '-out',
      `${what}.csr`,
    );
    const signing = issuer === what ? ['-signkey', `${what}.key`] : ['-CA', `${issuer}.pem`, '-CAkey', `${issuer}.key`];
    const serial = issuer === what ? [] : ['-CAcreateserial'];
    const file = ['-in', `${what}.csr`, '-extfile', `${what}.ext`, '-out', `${what}.pem`];
    await openssl('x509', '-req', '-sha256', '-days', '3650', ...signing, ...serial, ...file);
  };
  await issue('root', 'root', CA);
  await issue('intermediate', 'root', CA);
  await issue('unit', 'intermediate', UNIT);
  if (signWith !== undefined) await issue('other', 'intermediate', signWith);
  const read = (file: string) => readFile(path.join(folder, file), 'utf8');
  const intermediate = await read('intermediate.pem');
  let cross: string | null = null;
  if (crossSigned) {
    await issue('elder', 'elder', CA);
    const by = ['-CA', 'elder.pem', '-CAkey', 'elder.key', '-CAcreateserial', '-days', '3650'];
    await openssl('x509', '-req', '-sha256', ...by, '-in', 'root.csr', '-extfile', 'root.ext', '-out', 'cross.pem');
    cross = await read('cross.pem');
  }
  await writeFile(path.join(folder, 'chain.pem'), intermediate + (cross ?? ''));
  await writeFile(path.join(folder, 'serial'), '01\n');
  await writeFile(path.join(folder, 'tsa.cnf'), configuration(policy, digest));
  /** `openssl ts` cannot sign with RSA-PSS, so `openssl cms` signs its content again. */
  const signWithPss = async (named: boolean) => {
    await openssl('ts', '-reply', '-in', 'reply', '-token_out', '-out', 'token');
    await openssl('cms', '-verify', '-noverify', '-inform', 'DER', '-in', 'token', '-out', 'info');
    const who = signWith === undefined ? 'unit' : 'other';
    const signer = ['-signer', `${who}.pem`, '-inkey', `${who}.key`, '-certfile', 'chain.pem', '-md', digest];
    const form = ['-binary', '-nodetach', '-nosmimecap', '-outform', 'DER', '-econtent_type', TIMESTAMP_INFO];
    const padding = ['-keyopt', 'rsa_padding_mode:pss'];
    await openssl(
      'cms',
      '-sign',
      '-in',
      'info',
      ...signer,
      ...(named ? ['-cades'] : []),
      ...padding,
      ...form,
      '-out',
      'signed',
    );
    return der(0x30, GRANTED, await readFile(path.join(folder, 'signed')));
  };
  let turn: Promise<unknown> = Promise.resolve();
  const stampNow = async (bytes: Uint8Array, named: boolean) => {
    await writeFile(path.join(folder, 'data'), bytes);
    await openssl('ts', '-query', '-data', 'data', `-${imprint}`, '-cert', '-out', 'query');
    await openssl('ts', '-reply', '-config', 'tsa.cnf', '-queryfile', 'query', '-out', 'reply');
    return pss ? signWithPss(named) : readFile(path.join(folder, 'reply'));
  };
  // Requests are serialized, because openssl counts its serial numbers in a file.
  const inTurn = (bytes: Uint8Array, named: boolean) => {
    const answer = turn.then(() => stampNow(bytes, named));
    turn = answer.catch(() => undefined);
    return answer;
  };
  return {
    root: await read('root.pem'),
    intermediate,
    crossSigned: cross,
    stamp: (bytes) => inTurn(bytes, true),
    stampUnnamed: (bytes) => inTurn(bytes, false),
    close: () => rm(folder, { recursive: true, force: true }),
  };
};
