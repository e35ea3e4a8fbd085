import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RunTool } from '@vat/testkit';

/** A time-stamping authority made with openssl alone, so that our own code does not vouch for itself. */
export type TestAuthority = {
  /** PEM. */
  root: string;
  intermediate: string;
  /** The root's name and key as another authority certified them, which nobody has to know; it is in every token. */
  crossSigned: string | null;
  /** Resolves to a TimeStampResp over `bytes`. */
  stamp: (bytes: Uint8Array) => Promise<Buffer>;
  close: () => Promise<void>;
};

const CA = 'basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign,cRLSign\nsubjectKeyIdentifier=hash\n';
const UNIT =
  'basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=critical,timeStamping\n' +
  'subjectKeyIdentifier=hash\n';
/** Kinds of keys that authorities sign with. */
export const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'];
export const RSA = ['-newkey', 'rsa:2048'];

const configuration = (policy: string) => `[tsa]
default_tsa = t
[t]
serial = ./serial
crypto_device = builtin
signer_cert = ./unit.pem
certs = ./chain.pem
signer_key = ./unit.key
signer_digest = sha256
default_policy = ${policy}
digests = sha256
accuracy = secs:1
clock_precision_digits = 3
ess_cert_id_alg = sha256
`;

/** Makes an authority whose certificates are called after `name`; `policy` goes into its tokens. */
export const makeTestAuthority = async (
  run: RunTool,
  name: string,
  {
    policy = '1.3.6.1.4.1.99999.1.1',
    key = EC,
    crossSigned = false,
  }: { policy?: string; key?: readonly string[]; crossSigned?: boolean } = {},
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
      ...key,
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
  await writeFile(path.join(folder, 'tsa.cnf'), configuration(policy));
  let turn: Promise<unknown> = Promise.resolve();
  const stampNow = async (bytes: Uint8Array) => {
    await writeFile(path.join(folder, 'data'), bytes);
    await openssl('ts', '-query', '-data', 'data', '-sha256', '-cert', '-out', 'query');
    await openssl('ts', '-reply', '-config', 'tsa.cnf', '-queryfile', 'query', '-out', 'reply');
    return readFile(path.join(folder, 'reply'));
  };
  return {
    root: await read('root.pem'),
    intermediate,
    crossSigned: cross,
    // One at a time: openssl counts its serial numbers in a file.
    stamp: (bytes) => {
      const answer = turn.then(() => stampNow(bytes));
      turn = answer.catch(() => undefined);
      return answer;
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
};
