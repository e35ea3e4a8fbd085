import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createTestAuthority, type Identity } from './create-test-authority.js';
import { inherited } from './test-servers.js';

/** Node reads it when it starts: the certificates that a process trusts besides its own. */
export const TRUST_VARIABLE = 'NODE_EXTRA_CA_CERTS';

const IDENTITY = 'identity.json';

/**
 * Makes the certificate authority of a test run, and a certificate of it for 127.0.0.1, in a folder. Returns the file with the
 * authority's own certificate, for {@link TRUST_VARIABLE} of the processes that run tests.
 */
export const createRunAuthority = async (folder: string): Promise<string> => {
  const authority = await createTestAuthority();
  const file = path.join(folder, 'ca.pem');
  writeFileSync(file, authority.ca);
  writeFileSync(path.join(folder, IDENTITY), JSON.stringify(await authority.issue({ ip: ['127.0.0.1'] })));
  return file;
};

/** The authority's file, and the key and certificate for 127.0.0.1 that this process and every process with that file trusts. */
export const runAuthority = (): Identity & { file: string } => {
  const file = inherited(TRUST_VARIABLE);
  const identity = JSON.parse(readFileSync(path.join(path.dirname(file), IDENTITY), 'utf8')) as Identity;
  return { file, ...identity };
};
