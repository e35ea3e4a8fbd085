import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { provideTool } from '@vat/testkit';
import { ContentInfo, type Extension, PKIStatusInfo, TimeStampResp } from 'pkijs';
import {
  authorityExtensions,
  certificatePem,
  type Holder,
  issueCertificate,
  privateKeyPem,
  unitExtensions,
} from './issue-certificate.js';
import type { TimestampHash } from './object-identifiers.js';

const newEc = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey;
// Of type `object`, because @types/node declares the length as a string.
const PSS: object = { hashAlgorithm: 'sha256', mgf1HashAlgorithm: 'sha256', saltLength: 32 };
const KEYS = {
  rsa: () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  pss: () => generateKeyPairSync('rsa-pss', { modulusLength: 2048, ...PSS }).privateKey,
  ec: () => newEc('P-256'),
  ec384: () => newEc('P-384'),
  brainpool: () => newEc('brainpoolP256r1'),
} satisfies Record<string, () => KeyObject>;
type KeyKind = keyof typeof KEYS;

/**
 * A time-stamping authority whose tokens the openssl program makes, so that tests do not depend on our own implementation: a
 * root, an intermediate authority and a unit.
 */
export type OpensslAuthority = {
  /** PEM. */
  root: string;
  intermediate: string;
  /** The root's name and key, certified by another authority that verifiers need not know; it is in every token. */
  crossSigned: string | null;
  reply: (query: Uint8Array) => Uint8Array;
  stamp: (bytes: Uint8Array) => Promise<Uint8Array>;
  /** The same with RSA-PSS, without the attribute that names the signer's certificate. */
  stampUnnamed: (bytes: Uint8Array) => Uint8Array;
};

/** The keys and algorithms of an authority. */
export type Terms = {
  key?: KeyKind;
  /** The kind of the unit's key, if it differs from those above it. */
  unitKey?: KeyKind;
  crossSigned?: boolean;
  /** The hash functions of the imprint of `stamp`, of the signature, and of the name of the unit's certificate. */
  imprint?: TimestampHash;
  digest?: TimestampHash;
  nameCertificateBy?: TimestampHash | 'sha1';
  /** Signs with RSA-PSS; `unitKey` must be RSA. */
  pss?: boolean;
  /** With RSA-PSS: signs with another certificate, which has these extensions. */
  signWith?: Extension[];
};

/** The input of `openssl ts -verify`. */
type OpensslVerify = { token: Uint8Array; root: string; untrusted?: string } & (
  | { data: Uint8Array }
  | { query: Uint8Array }
);

/** openssl in its own folder; `close` removes the folder. */
export type Openssl = {
  run: (...args: string[]) => string;
  /** The certificates' names begin with `name`. */
  makeAuthority: (name: string, terms?: Terms) => OpensslAuthority;
  /** The output of openssl if the token verifies; otherwise throws an error with the output. */
  verify: (given: OpensslVerify) => string;
  close: () => void;
};

const POLICY = '1.3.6.1.4.1.99999.1.1';
/** The object identifier of a TSTInfo. */
const TIMESTAMP_INFO = '1.2.840.113549.1.9.16.1.4';
const TEN_YEARS_MS = 3_650 * 86_400_000;

/** `namesChain`: the token names the whole chain and not only its signer; openssl then accepts no other chain. */
const configuration = (folder: string, digest: string, nameCertificateBy: string, namesChain: boolean) =>
  [
    ...['[tsa]', 'default_tsa = t', '[t]', `serial = ${folder}/serial`, 'crypto_device = builtin'],
    ...[`signer_cert = ${folder}/unit.pem`, `certs = ${folder}/chain.pem`, `signer_key = ${folder}/unit.key`],
    ...[`signer_digest = ${digest}`, `default_policy = ${POLICY}`, 'digests = sha256, sha384, sha512'],
    ...['accuracy = secs:1, millisecs:500, microsecs:100', 'clock_precision_digits = 3', 'ordering = no'],
    ...[
      'tsa_name = yes',
      `ess_cert_id_chain = ${namesChain ? 'yes' : 'no'}`,
      `ess_cert_id_alg = ${nameCertificateBy}`,
      '',
    ],
  ].join('\n');

export const openOpenssl = async (): Promise<Openssl> => {
  const { file, env } = await provideTool('openssl');
  const folder = mkdtempSync(path.join(tmpdir(), 'vat-openssl-'));
  const run = (...args: string[]) => execFileSync(file, args, { env, cwd: folder, stdio: 'pipe' }).toString();
  const read = (name: string) => readFileSync(path.join(folder, name));
  const write = (name: string, content: Uint8Array | string) => {
    writeFileSync(path.join(folder, name), content);
    return name;
  };
  let authorities = 0;

  const makeAuthority: Openssl['makeAuthority'] = (name, terms = {}) => {
    const { key = 'ec', unitKey = key, crossSigned = false, pss = false, signWith } = terms;
    const { imprint = 'sha256', digest = 'sha256', nameCertificateBy = 'sha256' } = terms;
    authorities += 1;
    const own = `authority${authorities}`;
    const at = (part: string) => `${own}/${part}`;
    mkdirSync(path.join(folder, own));
    const [from, to] = [new Date(Date.now() - 60_000), new Date(Date.now() + TEN_YEARS_MS)];
    const issue = (what: string, issuer: Holder | null, kind: KeyObject, extensions: Extension[]) =>
      issueCertificate({ subject: `${name} ${what}`, issuer, key: kind, from, to, extensions });
    const writeHolder = (part: string, holder: Holder) => {
      write(at(`${part}.pem`), certificatePem(holder.certificate));
      write(at(`${part}.key`), privateKeyPem(holder.key));
    };

    const root = issue('root', null, KEYS[key](), authorityExtensions());
    const issuing = issue('intermediate', root, KEYS[key](), authorityExtensions(0));
    writeHolder('unit', issue('unit', issuing, KEYS[unitKey](), unitExtensions()));
    if (signWith) writeHolder('other', issue('other', issuing, KEYS[unitKey](), signWith));
    const elder = crossSigned ? issue('elder', null, KEYS[key](), authorityExtensions()) : null;
    const cross = elder && certificatePem(issue('root', elder, root.key, authorityExtensions()).certificate);
    const intermediate = certificatePem(issuing.certificate);
    write(at('chain.pem'), intermediate + (cross ?? ''));
    write(at('serial'), '01\n');
    write(at('tsa.cnf'), configuration(path.join(folder, own), digest, nameCertificateBy, !crossSigned));

    /** `openssl ts` cannot sign with RSA-PSS, so `openssl cms` signs its content again. */
    const signWithPss = (named: boolean) => {
      run('ts', '-reply', '-in', at('reply.tsr'), '-token_out', '-out', at('token'));
      run('cms', '-verify', '-noverify', '-inform', 'DER', '-in', at('token'), '-out', at('info'));
      const signer = at(signWith ? 'other' : 'unit');
      run(
        ...['cms', '-sign', '-in', at('info'), '-signer', `${signer}.pem`, '-inkey', `${signer}.key`],
        ...['-certfile', at('chain.pem'), '-md', digest, ...(named ? ['-cades'] : [])],
        ...['-keyopt', 'rsa_padding_mode:pss', '-binary', '-nodetach', '-nosmimecap', '-outform', 'DER'],
        ...['-econtent_type', TIMESTAMP_INFO, '-out', at('signed')],
      );
      const token = ContentInfo.fromBER(Uint8Array.from(read(at('signed'))));
      const response = new TimeStampResp({ status: new PKIStatusInfo({ status: 0 }), timeStampToken: token });
      return Buffer.from(response.toSchema().toBER());
    };
    const replyTo = (query: string, named = true) => {
      run('ts', '-reply', '-config', at('tsa.cnf'), '-queryfile', query, '-out', at('reply.tsr'));
      return pss ? signWithPss(named) : read(at('reply.tsr'));
    };
    const stamp = (bytes: Uint8Array, named: boolean) => {
      run('ts', '-query', '-data', write(at('data'), bytes), `-${imprint}`, '-cert', '-out', at('query.tsq'));
      return replyTo(at('query.tsq'), named);
    };
    return {
      ...{ root: certificatePem(root.certificate), intermediate, crossSigned: cross },
      reply: (query) => replyTo(write(at('query.tsq'), query)),
      stamp: async (bytes) => stamp(bytes, true),
      stampUnnamed: (bytes) => stamp(bytes, false),
    };
  };

  const verify: Openssl['verify'] = ({ token, root, untrusted, ...given }) => {
    const subject =
      'data' in given ? ['-data', write('data', given.data)] : ['-queryfile', write('query.tsq', given.query)];
    const between = untrusted === undefined ? [] : ['-untrusted', write('untrusted.pem', untrusted)];
    const trusted = ['-CAfile', write('root.pem', root)];
    return run('ts', '-verify', ...subject, '-in', write('token.tsr', token), ...trusted, ...between).trim();
  };
  return { run, makeAuthority, verify, close: () => rmSync(folder, { recursive: true, force: true }) };
};
