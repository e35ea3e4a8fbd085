// @ts-check
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { certificatePem, issueCertificate, privateKeyPem, serverNames } from '@vat/evidence/proof';

const TEN_YEARS_MS = 3_650 * 86_400_000;

/**
 * A self-signed certificate for localhost, 127.0.0.1 and ::1. It is made once and stored, so that a running worker still
 * trusts it (by NODE_EXTRA_CA_CERTS, which is read at its start).
 *
 * @param {string} folder created if it does not exist
 * @returns {{ cert: string, key: string }} paths of PEM files
 */
export const makeCertificate = (folder) => {
  const [cert, key] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')];
  if (existsSync(cert) && existsSync(key)) return { cert, key };
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const now = Date.now();
  const made = issueCertificate({
    ...{ subject: 'localhost', issuer: null, from: new Date(now), to: new Date(now + TEN_YEARS_MS) },
    extensions: [serverNames({ dns: ['localhost'], ip: ['127.0.0.1', '::1'] })],
  });
  writeFileSync(cert, certificatePem(made.certificate));
  writeFileSync(key, privateKeyPem(made.key), { mode: 0o600 });
  return { cert, key };
};
