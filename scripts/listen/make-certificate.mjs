// @ts-check
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * A self-signed certificate for localhost, 127.0.0.1 and ::1. It is made once and stored, so that a running worker still
 * trusts it (by NODE_EXTRA_CA_CERTS, which is read at its start). Throws if openssl is needed and not installed.
 *
 * @param {string} folder created if it does not exist
 * @returns {Promise<{ cert: string, key: string }>} paths of PEM files
 */
export const makeCertificate = async (folder) => {
  const [cert, key] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')];
  if (existsSync(cert) && existsSync(key)) return { cert, key };
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1';
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '3650'];
  try {
    await run('openssl', [...args, '-subj', '/CN=localhost', '-addext', names, '-keyout', key, '-out', cert]);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') throw error;
    throw new Error('--self-signed needs openssl; without it, make your own certificate and use --cert and --key');
  }
  return { cert, key };
};
