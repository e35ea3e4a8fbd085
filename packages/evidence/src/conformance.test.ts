import { readFile } from 'node:fs/promises';
import { type CheckBody, ERROR_CATALOGUE, type ErrorCode, type ErrorSpec, publicCheck } from '@vat/domain';
import { hashCheck } from './index.js';

type CheckVector = { name: string; body: string; canonical?: string; response_hash?: string; error: string | null };
type RetryVector = { name: string; status: number | null; body: { error: Record<string, unknown> } | null };

const file = new URL('../../receiver/vectors/conformance.json', import.meta.url);
const { checks, retries } = JSON.parse(await readFile(file, 'utf8')) as {
  checks: CheckVector[];
  retries: RetryVector[];
};

/** The hash that the service would record for a served body. Throws when there can be none. */
const recordedHash = (body: string) => {
  const { response_hash: given, timestamp: _timestamp, anchor: _anchor, ...hashed } = JSON.parse(body);
  const { bytes, hash } = hashCheck(hashed as CheckBody);
  return { given, hash, text: bytes.toString(), computed: `sha256:${Buffer.from(hash).toString('hex')}` };
};

/** Why a served body does not verify; null when it does. */
const errorOf = (body: string): string | null => {
  const check = JSON.parse(body) as Record<string, unknown> | null;
  if (typeof check?.response_hash !== 'string') return 'HASH_MISSING';
  if (check.hash_profile !== 'jcs-sha256-v1') return 'UNKNOWN_PROFILE';
  try {
    return recordedHash(body).computed === check.response_hash ? null : 'HASH_MISMATCH';
  } catch {
    return 'NOT_HASHABLE';
  }
};

describe('the published checks', () => {
  const genuine = checks.filter(({ error }) => error === null);

  it('are genuine and altered ones, and each of the reasons occurs', () => {
    expect(genuine.length).toBeGreaterThan(5);
    const reasons = new Set(checks.map(({ error }) => error));
    expect(reasons).toEqual(new Set([null, 'HASH_MISMATCH', 'HASH_MISSING', 'NOT_HASHABLE', 'UNKNOWN_PROFILE']));
  });

  it.each(checks)('$name', ({ body, error }) => {
    expect(errorOf(body)).toBe(error);
  });

  it.each(genuine)('$name: canonical form and hash are those that the service records', (vector) => {
    const { text, computed, given, hash } = recordedHash(vector.body);
    expect(text).toBe(vector.canonical);
    expect([computed, given]).toEqual([vector.response_hash, vector.response_hash]);
    const { timestamp: _timestamp, anchor: _anchor, ...served } = publicCheck({ bytes: Buffer.from(text), hash });
    expect(JSON.parse(vector.body)).toMatchObject(served);
  });
});

describe('the published retries', () => {
  /** Errors of a gateway and of a later release, which clients must understand as well. */
  const FOREIGN_CODES: readonly unknown[] = [429, 'A_NEW_LIMIT'];
  const answered = retries
    .flatMap(({ name, status, body }) => (body ? [{ name, status, error: body.error }] : []))
    .filter(({ error }) => !FOREIGN_CODES.includes(error.code));

  it.each(answered)('$name: the error is one of the API', ({ status, error }) => {
    const { code, message, ...extra } = error;
    const spec: ErrorSpec = ERROR_CATALOGUE[code as ErrorCode];
    expect([spec.status, typeof message]).toEqual([status, 'string']);
    expect(Object.keys(extra).filter((key) => !spec.extra?.includes(key))).toEqual([]);
  });
});
