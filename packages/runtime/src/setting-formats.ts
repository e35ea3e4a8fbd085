import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { readRedisAddress } from './redis-address.js';

/** A program that reads settings; `stack` is the supervisor that `npm start` runs. */
export type Program = 'api' | 'worker' | 'admin' | 'stack';

type Options<S> = {
  /**
   * The setting holds a secret. It can be read from the file that NAME_FILE names, since container tools display the
   * environment and every child process inherits it.
   */
  secret?: boolean;
  /** What the supervisor accepts instead: it starts servers whose addresses are unset, and needs ports that are known. */
  stack?: S;
};

/** The programs that read the setting, the schema of its text, and its meaning for docs/settings.md. */
export const setting = <const P extends readonly Program[], S extends z.ZodType, T extends z.ZodType = S>(
  readBy: P,
  schema: S,
  meaning: string,
  { secret = false, stack }: Options<T> = {},
) => ({ readBy, schema, meaning, secret, stack: stack ?? (schema as unknown as T) });

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** Reads `250ms`, `10s`, `2m`, `1h` as milliseconds; `null` for anything else. */
const readDuration = (text: string): number | null => {
  const match = /^(\d{1,9})(ms|s|m|h)$/.exec(text.trim());
  return match ? Number(match[1]) * UNITS[match[2] as keyof typeof UNITS] : null;
};

const HOUR_MS = 3_600_000;
/** A thousand years: with more, dates that are computed from a duration leave the range of Postgres. */
const MAX_HOURS = 8_766_000;
/** No call takes a day. Beyond 24 days Node's timers would end at once. */
const MAX_TIMER_HOURS = 24;

type DurationBounds = { minMs?: number; maxHours?: number };

/** Why a duration is refused, or null. */
const durationFault = (
  ms: number | null,
  form: string,
  { minMs = 0, maxHours = MAX_HOURS }: DurationBounds,
): string | null => {
  if (ms === null) return form;
  if (ms < minMs) return `write at least ${minMs % HOUR_MS === 0 ? `${minMs / HOUR_MS}h` : `${minMs}ms`}`;
  return ms > maxHours * HOUR_MS ? `write at most ${maxHours}h` : null;
};

/** A duration; milliseconds once read. */
export const duration = (bounds: DurationBounds = {}) =>
  z.string().transform((text, context) => {
    const ms = readDuration(text);
    const message = durationFault(ms, 'write a duration as 250ms, 10s, 2m or 1h', bounds);
    if (ms !== null && message === null) return ms;
    context.addIssue({ code: 'custom', message: message ?? '' });
    return z.NEVER;
  });

/** How long rows are stored. Less than a day is a mistake, such as `10m` for ten months, and nothing brings the rows back. */
export const retention = () => duration({ minMs: 24 * HOUR_MS });

/** How often something is done. */
export const interval = () => duration({ minMs: 1 });

/** A duration that a timer measures. */
export const timer = () => duration({ maxHours: MAX_TIMER_HOURS });

/** The longest time that something may take. */
export const timeLimit = () => duration({ minMs: 1, maxHours: MAX_TIMER_HOURS });

/** A comma-separated list of at least one duration. */
export const durations = () =>
  z.string().transform((text, context) => {
    const list = text.split(',').map(readDuration);
    const message = list
      .map((ms) => durationFault(ms, 'write durations as 500ms,1s,2m', {}))
      .find((one) => one !== null);
    if (message === undefined && list.every((ms) => ms !== null)) return list;
    context.addIssue({ code: 'custom', message: message ?? '' });
    return z.NEVER;
  });

/** A comma-separated list, without its empty elements. */
export const list = () =>
  z.string().transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  );

export const count = (min: number, max = Number.MAX_SAFE_INTEGER) => {
  const error =
    max === Number.MAX_SAFE_INTEGER
      ? `write a whole number, ${min} or more`
      : `write a whole number from ${min} to ${max}`;
  return z.coerce.number({ error }).int({ error }).min(min, { error }).max(max, { error });
};

/** A URL with one of the schemes. The message names the expected form and never the value, which may contain a password. */
export const address = (...schemes: string[]) =>
  z.url({ protocol: new RegExp(`^(${schemes.join('|')})$`), error: `expected an address like ${schemes[0]}://…` });

const isDecodable = (text: string): boolean => {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
};

/** An address with one of the schemes, whose user info can be decoded. */
const addressWithUser = (...schemes: string[]) =>
  address(...schemes).refine(
    (text) => !URL.canParse(text) || [new URL(text).username, new URL(text).password].every(isDecodable),
    'a % that is not part of an encoded character must be written as %25',
  );

export const proxyAddress = () => addressWithUser('http');

/** A connection string of Postgres. Without a host it names a socket, as in `postgresql:///vat?host=/run/postgresql`. */
export const postgresAddress = () => addressWithUser('postgresql', 'postgres');

/** An address that a header can contain. */
export const contactAddress = () =>
  z
    .url({ protocol: /^(https?|mailto)$/, error: 'expected an address like https://… or mailto:…' })
    .regex(/^[!-~]*$/, 'characters beyond ASCII must be percent-encoded');

export const mailServer = () =>
  addressWithUser('smtps', 'smtp').refine(
    (text) => !URL.canParse(text) || new URL(text).hostname !== '',
    'expected an address like smtps://user:password@host',
  );

const MAILBOX = /^(?:"?([^"<>\p{Cc}]*?)"? *<([^\s<>()@,;:"]+@[^\s<>()@,;:"]+)>|([^\s<>()@,;:"]+@[^\s<>()@,;:"]+))$/u;

/** A sender of mail: `Name <name@example.com>` or the address alone; name and address once read. */
export const mailbox = () =>
  z.string().transform((text, context) => {
    const [found, name = '', named, alone] = MAILBOX.exec(text.trim()) ?? [];
    if (found !== undefined) return { name, address: named ?? alone ?? '' };
    context.addIssue({ code: 'custom', message: 'write it as Name <name@example.com>' });
    return z.NEVER;
  });

/** A REDIS_URL. The message names the expected form and never the value, which may contain a password. */
export const redisUrl = () =>
  z.string().superRefine((text, context) => {
    try {
      readRedisAddress(text);
    } catch (error) {
      context.addIssue({ code: 'custom', message: (error as Error).message });
    }
  });

/** The path of a PEM file with certificates; their text once read. */
export const certificates = () =>
  z.string().transform((file, context) => {
    try {
      const text = readFileSync(file, 'utf8');
      if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
      context.addIssue({ code: 'custom', message: 'the file contains no certificate in PEM format' });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      context.addIssue({ code: 'custom', message: `the file cannot be read (${code ?? 'not a path'})` });
    }
    return z.NEVER;
  });
