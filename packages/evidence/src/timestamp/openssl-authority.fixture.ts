import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Tool } from '@vat/testkit';

/** Arguments of `openssl genpkey`. */
const KEYS = {
  rsa: ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048'],
  ec: ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  ec384: ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-384'],
  brainpool: [
    '-algorithm',
    'EC',
    '-pkeyopt',
    'ec_paramgen_curve:brainpoolP256r1',
    '-pkeyopt',
    'ec_param_enc:named_curve',
  ],
} as const;
export type KeyKind = keyof typeof KEYS;

/** A root, an issuing authority and a time-stamping unit that the openssl program made. */
type OpensslAuthority = {
  /** PEM. */
  root: string;
  reply: (query: Uint8Array) => Uint8Array;
};

/** The input of `openssl ts -verify`. */
type OpensslVerify = { token: Uint8Array; root: string; untrusted?: string } & (
  | { data: Uint8Array }
  | { query: Uint8Array }
);

/** openssl in its own folder; `close` removes the folder. */
export type Openssl = {
  run: (...args: string[]) => string;
  makeAuthority: (name: string, keys: KeyKind, digest: string, nameCertificateBy: string) => OpensslAuthority;
  /** The output of openssl if the token verifies; otherwise throws an error with the output. */
  verify: (given: OpensslVerify) => string;
  close: () => void;
};

const POLICY = '1.3.6.1.4.1.99999.1.1';
const ISSUING = [
  'basicConstraints=critical,CA:TRUE,pathlen:0',
  'keyUsage=critical,keyCertSign,cRLSign',
  'subjectKeyIdentifier=hash',
  'authorityKeyIdentifier=keyid',
];
const UNIT = [
  'basicConstraints=critical,CA:FALSE',
  'keyUsage=critical,digitalSignature',
  'extendedKeyUsage=critical,timeStamping',
  'subjectKeyIdentifier=hash',
  'authorityKeyIdentifier=keyid',
];

const configuration = (folder: string, digest: string, nameCertificateBy: string) =>
  [
    ...['[tsa]', 'default_tsa = t', '[t]', `serial = ${folder}/serial`, 'crypto_device = builtin'],
    ...[`signer_cert = ${folder}/tsa.pem`, `certs = ${folder}/ica.pem`, `signer_key = ${folder}/tsa.key`],
    ...[`signer_digest = ${digest}`, `default_policy = ${POLICY}`, 'digests = sha256, sha384, sha512'],
    ...['accuracy = secs:1, millisecs:500, microsecs:100', 'clock_precision_digits = 3', 'ordering = no'],
    ...['tsa_name = yes', 'ess_cert_id_chain = yes', `ess_cert_id_alg = ${nameCertificateBy}`, ''],
  ].join('\n');

/** Creates a working folder for openssl. */
export const openOpenssl = ({ file, env }: Tool): Openssl => {
  const folder = mkdtempSync(path.join(tmpdir(), 'vat-openssl-'));
  const run = (...args: string[]) => execFileSync(file, args, { env, cwd: folder, stdio: 'pipe' }).toString();
  const write = (name: string, content: Uint8Array | string) => {
    writeFileSync(path.join(folder, name), content);
    return name;
  };

  const makeAuthority: Openssl['makeAuthority'] = (name, keys, digest, nameCertificateBy) => {
    const at = (part: string) => `${name}/${part}`;
    mkdirSync(path.join(folder, name));
    for (const part of ['ca', 'ica', 'tsa']) run('genpkey', ...KEYS[keys], '-out', at(`${part}.key`));
    const subject = (of: string) => ['-subj', `/C=EU/O=Test/CN=OpenSSL ${of} ${name}`];
    const usage = ['-addext', 'keyUsage=critical,keyCertSign,cRLSign'];
    run('req', '-x509', '-new', '-key', at('ca.key'), '-sha256', ...subject('root'), ...usage, '-out', at('ca.pem'));
    const issue = (part: string, by: string, of: string, extensions: string[]) => {
      run('req', '-new', '-key', at(`${part}.key`), ...subject(of), '-out', at(`${part}.csr`));
      const issuer = ['-CA', at(`${by}.pem`), '-CAkey', at(`${by}.key`), '-CAcreateserial'];
      const extended = ['-extfile', write(at(`${part}.ext`), `${extensions.join('\n')}\n`)];
      run('x509', '-req', '-in', at(`${part}.csr`), ...issuer, '-sha256', ...extended, '-out', at(`${part}.pem`));
    };
    issue('ica', 'ca', 'issuing', ISSUING);
    issue('tsa', 'ica', 'unit', UNIT);
    write(at('serial'), '01\n');
    write(at('tsa.cnf'), configuration(path.join(folder, name), digest, nameCertificateBy));
    return {
      root: readFileSync(path.join(folder, name, 'ca.pem'), 'utf8'),
      reply: (query) => {
        write(at('query.tsq'), query);
        run('ts', '-reply', '-config', at('tsa.cnf'), '-queryfile', at('query.tsq'), '-out', at('reply.tsr'));
        return readFileSync(path.join(folder, name, 'reply.tsr'));
      },
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
