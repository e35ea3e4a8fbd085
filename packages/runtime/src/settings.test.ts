import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  type Environment,
  readSettings,
  SECRET_SETTINGS,
  type SettingOf,
  SettingsError,
  settingProblems,
} from './settings.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'vat-settings-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fileOf = (content: string): string => {
  const file = path.join(folder, String(Math.random()).slice(2));
  writeFileSync(file, content);
  return file;
};
/** The message of the error. */
const refusal = (env: Environment, names: SettingOf<'api'>[]): string => {
  try {
    readSettings(env, 'api', names);
    return 'accepted';
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return error.message;
  }
};

const SECRET = 'sixteen characters, and more';

describe('a secret setting', () => {
  test.each(['', '\n', '\r\n', '\n\n'])('is read from the file of NAME_FILE, without the %j at its end', (end) => {
    const env = { SECRET_KEY_FILE: fileOf(`${SECRET}${end}`), OPS_PASSWORD_FILE: fileOf(` inner blanks stay ${end}`) };
    expect(readSettings(env, 'api', ['SECRET_KEY', 'OPS_PASSWORD'])).toEqual({
      SECRET_KEY: SECRET,
      OPS_PASSWORD: ' inner blanks stay ',
    });
  });

  test('can be read from a file, whichever it is', () => {
    const texts: Record<string, string> = {
      DATABASE_URL: 'postgresql://user:password@postgres/vat',
      SLOTS_DATABASE_URL: 'postgres://user:password@postgres/vat',
      EGRESS_PROXY: 'http://user:password@proxy:3128',
      REDIS_URL: 'rediss://:p@h/0',
      SMTP_URL: 'smtps://user:password@mail.example.com',
      TSA_URL: 'https://user:password@tsa.example.com',
    };
    const textOf = (name: string) => texts[name] ?? `${SECRET} of ${name}`;
    const secretFiles = SECRET_SETTINGS.map((name) => [`${name}_FILE`, fileOf(textOf(name))]);
    const env: Environment = { ...Object.fromEntries(secretFiles), MAIL_FROM: 'vat@example.com' };
    const read = Object.fromEntries(SECRET_SETTINGS.map((name) => [name, textOf(name)]));
    // The API reads every secret.
    expect(readSettings(env, 'api', SECRET_SETTINGS as SettingOf<'api'>[])).toEqual(read);
    expect(settingProblems(env, 'api')).toEqual([]);
    const addresses = { DATABASE_URL: 'postgresql://u:p@h/db', REDIS_URL: 'redis://:p@h/0', SECRET_KEY: SECRET };
    const files = Object.entries(addresses).map(([name, text]) => [`${name}_FILE`, fileOf(text)]);
    const stack = { ...Object.fromEntries(files), PORT: '1' };
    expect(readSettings(stack, 'stack')).toMatchObject({ ...addresses, PORT: 1 });
    expect(settingProblems(stack, 'stack')).toEqual([]);
  });

  test('is refused when both are set; an empty one counts as unset', () => {
    const file = fileOf(SECRET);
    const both = { SECRET_KEY: SECRET, SECRET_KEY_FILE: file };
    expect(refusal(both, ['SECRET_KEY'])).toBe(
      'Settings are wrong. SECRET_KEY: set SECRET_KEY or SECRET_KEY_FILE, not both.',
    );
    expect(settingProblems(both, 'stack')).toEqual(['SECRET_KEY: set SECRET_KEY or SECRET_KEY_FILE, not both']);
    expect(readSettings({ SECRET_KEY: ' ', SECRET_KEY_FILE: file }, 'api', ['SECRET_KEY'])).toEqual({
      SECRET_KEY: SECRET,
    });
    expect(readSettings({ SECRET_KEY: SECRET, SECRET_KEY_FILE: '' }, 'api', ['SECRET_KEY'])).toEqual({
      SECRET_KEY: SECRET,
    });
  });

  test('whose file cannot be read is refused with the name of the setting, without the content or the path', () => {
    const cases = [
      path.join(folder, 'missing'),
      folder,
      fileOf(''),
      fileOf('\n'),
      'a secret\0by mistake',
      fileOf('short'),
    ];
    for (const file of cases) {
      const message = refusal({ SECRET_KEY_FILE: file }, ['SECRET_KEY']);
      expect(message).toMatch(/^Settings are wrong\. SECRET_KEY: (the file of SECRET_KEY_FILE|at least 16)/);
      expect(message).not.toContain(folder);
      expect(message).not.toMatch(/by mistake|short/);
    }
  });

  test.each(['OPS_PASSWORD', 'OPS_PASSWORD_FILE'])('%s with less than 12 characters is refused', (name) => {
    const given = (password: string) => ({ [name]: name.endsWith('_FILE') ? fileOf(password) : password });
    expect(refusal(given('11 chars on'), ['OPS_PASSWORD'])).toBe(
      'Settings are wrong. OPS_PASSWORD: at least 12 characters.',
    );
    expect(readSettings(given('12 chars now'), 'api', ['OPS_PASSWORD'])).toEqual({ OPS_PASSWORD: '12 chars now' });
  });

  test('is the only kind of setting that NAME_FILE works for: with that of another one a process does not start', () => {
    const env = { TSA_ROOTS_FILE: fileOf('roots'), LOG_LEVEL: 'debug', LOG_LEVEL_FILE: '' };
    const problem = 'TSA_ROOTS: is not read from the file of TSA_ROOTS_FILE; set TSA_ROOTS';
    expect(refusal(env, ['TSA_ROOTS', 'LOG_LEVEL'])).toBe(`Settings are wrong. ${problem}.`);
    expect(settingProblems(env, 'stack')).toEqual([problem]);
    expect(readSettings(env, 'api', ['LOG_LEVEL'])).toEqual({ LOG_LEVEL: 'debug' });
  });
});

describe('REDIS_CA', () => {
  const PEM = '-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n';
  test('is read from its file, and refused when that holds no certificate', () => {
    expect(readSettings({ REDIS_CA: fileOf(PEM) }, 'api', ['REDIS_CA'])).toEqual({ REDIS_CA: PEM });
    expect(readSettings({}, 'api', ['REDIS_CA'])).toEqual({});
    expect(refusal({ REDIS_CA: fileOf('text') }, ['REDIS_CA'])).toBe(
      'Settings are wrong. REDIS_CA: the file contains no certificate in PEM format.',
    );
    expect(refusal({ REDIS_CA: path.join(folder, 'missing') }, ['REDIS_CA'])).toBe(
      'Settings are wrong. REDIS_CA: the file cannot be read (ENOENT).',
    );
  });
});

test('a REDIS_PREFIX that would separate the keys of a queue in a cluster is refused', () => {
  expect(refusal({ REDIS_PREFIX: 'a{}b' }, ['REDIS_PREFIX'])).toMatch(/REDIS_PREFIX: must not contain \{\}/);
  for (const prefix of ['vat', '{vat}', 'a}b{c'])
    expect(readSettings({ REDIS_PREFIX: prefix }, 'api', ['REDIS_PREFIX'])).toEqual({ REDIS_PREFIX: prefix });
});

test.each([
  ['PORT', 'http', 'write a whole number from 0 to 65535'],
  ['PORT', '3000.5', 'write a whole number from 0 to 65535'],
  ['PORT', '70000', 'write a whole number from 0 to 65535'],
  ['RATE_LIMIT', '0', 'write a whole number, 1 or more'],
  ['ANCHOR_EVERY', '0s', 'write at least 1ms'],
  ['SWEEP_EVERY', '0ms', 'write at least 1ms'],
  [
    'DATABASE_CONNECTIONS',
    '7',
    'write at least 8: with fewer, the tasks of a worker wait for connections that they hold',
  ],
  ['WEBHOOK_TIMEOUT', '0s', 'write at least 1ms'],
  // Longer than Node's timers: each attempt would time out at once.
  ['WEBHOOK_TIMEOUT', '600h', 'write at most 24h'],
  ['BACKPRESSURE_AFTER', '600h', 'write at most 24h'],
  ['EVIDENCE_KEPT', '99999999h', 'write at most 8766000h'],
  // Ten months were meant, and within two hours everything older than ten minutes would be deleted.
  ['EVIDENCE_KEPT', '10m', 'write at least 24h'],
  ['DELIVERIES_KEPT', '90s', 'write at least 24h'],
  ['BATCHES_KEPT', '0h', 'write at least 24h'],
  ['WEBHOOK_RETRY_DELAYS', '1s,99999999h', 'write at most 8766000h'],
  ['WEBHOOK_RETRY_DELAYS', '1s,soon', 'write durations as 500ms,1s,2m'],
  ['VIES_URL', 'localhost:8080', 'expected an address like https://…'],
  ['TSA_URL', 'ftp://tsa.example/', 'expected an address like https://…'],
  ['ENRICHMENT_GLEIF_URL', 'gleif.example', 'expected an address like https://…'],
  ['EGRESS_PROXY', 'https://u:secret@proxy', 'expected an address like http://…'],
  ['CONTACT_URL', 'it@acme.example', 'expected an address like https://… or mailto:…'],
  ['CONTACT_URL', 'https://acme.example/łódź', 'characters beyond ASCII must be percent-encoded'],
  ['EGRESS_PROXY', 'http://u:secret%zz@proxy', 'a % that is not part of an encoded character must be written as %25'],
])('%s=%s is refused', (name, text, problem) => {
  expect(settingProblems({ [name]: text }, 'worker')).toEqual([`${name}: ${problem}`]);
});

test('the longest durations are accepted, and no delay', () => {
  const env = {
    EVIDENCE_KEPT: '8766000h',
    WEBHOOK_TIMEOUT: '24h',
    WEBHOOK_RETRY_DELAYS: '0s',
    BACKPRESSURE_AFTER: '0s',
  };
  expect(settingProblems(env, 'worker')).toEqual([]);
});

describe('mail', () => {
  const MAIL = { SMTP_URL: 'smtps://user:p%40ss@mail.example.com', MAIL_FROM: 'VAT checks <vat@example.com>' };
  const names: SettingOf<'api'>[] = ['SMTP_URL', 'MAIL_FROM'];

  test('is configured by server and sender together: one without the other is named at the start of every program', () => {
    expect(readSettings(MAIL, 'api', names)).toEqual({
      SMTP_URL: MAIL.SMTP_URL,
      MAIL_FROM: { name: 'VAT checks', address: 'vat@example.com' },
    });
    expect(readSettings({}, 'api', names)).toEqual({ SMTP_URL: undefined, MAIL_FROM: undefined });
    expect(refusal({ SMTP_URL: MAIL.SMTP_URL }, names)).toBe(
      'Settings are wrong. MAIL_FROM: must be set too, since SMTP_URL is set.',
    );
    expect(refusal({ MAIL_FROM: MAIL.MAIL_FROM, SMTP_URL: ' ' }, names)).toBe(
      'Settings are wrong. SMTP_URL: must be set too, since MAIL_FROM is set.',
    );
    expect(settingProblems({ SMTP_URL_FILE: fileOf(MAIL.SMTP_URL) }, 'stack')).toEqual([
      'MAIL_FROM: must be set too, since SMTP_URL is set',
    ]);
    expect(settingProblems(MAIL, 'stack')).toEqual([]);
  });

  test.each(['http://mail.example.com', 'mail.example.com:587', 'smtp://', 'smtp:mail', 'smtps://user:100%@host'])(
    'server %s is refused without being repeated',
    (url) => {
      const message = refusal({ ...MAIL, SMTP_URL: url }, names);
      expect(message).toMatch(/^Settings are wrong\. SMTP_URL: /);
      expect(message).not.toContain(url);
    },
  );

  test.each([
    ['vat@example.com', { name: '', address: 'vat@example.com' }],
    ['<vat@example.com>', { name: '', address: 'vat@example.com' }],
    ['"Müller, VAT" <vat@example.com>', { name: 'Müller, VAT', address: 'vat@example.com' }],
  ])('sender %s is read', (text, from) => {
    expect(readSettings({ ...MAIL, MAIL_FROM: text }, 'api', ['MAIL_FROM'])).toEqual({ MAIL_FROM: from });
  });

  test.each(['vat', 'vat@example.com, other@example.com', 'A <vat@example.com> B', 'A\r\nBcc: x@y <vat@example.com>'])(
    'sender %j is refused',
    (text) => expect(refusal({ ...MAIL, MAIL_FROM: text }, names)).toContain('MAIL_FROM: write it as'),
  );
});
