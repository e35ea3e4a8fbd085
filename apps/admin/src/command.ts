import type { Readable } from 'node:stream';
import { connectRedis, createProducer, type Producer } from '@vat/queues';
import { readSettings } from '@vat/runtime';

/** The command ran and its check failed. The answer is printed like a normal one, with exit code 1. */
export class FailedCheck extends Error {
  override name = 'FailedCheck';
  constructor(readonly answer: Record<string, unknown>) {
    super('the check failed');
  }
}

/** The command line is wrong, or names something that does not exist; the message says what to write. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** The arguments after the words of a command. */
export type Arguments = { positionals: string[]; flags: Record<string, string | boolean | undefined> };

/**
 * Commands by their usage line, such as `key create ACCOUNT [--test] [--name N]`, by which arguments are parsed. Each returns
 * the JSON object to print.
 */
export type Commands = Record<string, (args: Arguments) => Promise<Record<string, unknown>>>;

const REDIS_WAIT_MS = 5_000;

/** Waits until the connection is ready. Throws if it is not within {@link REDIS_WAIT_MS}. */
const waitUntilReady = (redis: ReturnType<typeof connectRedis>): Promise<void> =>
  new Promise((resolve, reject) => {
    if (redis.status === 'ready') return resolve();
    const timer = setTimeout(() => reject(new UsageError('Redis does not answer at REDIS_URL.')), REDIS_WAIT_MS);
    redis.once('ready', () => {
      clearTimeout(timer);
      resolve();
    });
  });

/** Runs work that adds jobs, with its own connection. Throws {@link UsageError} if Redis does not answer, and SettingsError. */
export const withProducer = async <T>(
  env: NodeJS.ProcessEnv,
  now: () => Date,
  work: (producer: Producer) => Promise<T>,
): Promise<T> => {
  const settings = readSettings(env, 'admin', ['REDIS_URL', 'REDIS_CA', 'REDIS_PREFIX']);
  const redis = connectRedis(settings.REDIS_URL, 'producer', () => undefined, settings.REDIS_CA);
  const producer = createProducer(redis, settings.REDIS_PREFIX, now);
  try {
    await waitUntilReady(redis);
    return await work(producer);
  } finally {
    await producer.close();
    redis.disconnect();
  }
};

/** More than the maximum length of a password. */
const MAX_CHARACTERS = 10_000;

/**
 * The first line of a stream without its line break. Secrets are read this way, because every user of the machine can see a
 * program's arguments. Closes the stream. A line that is too long is truncated, and its validation then rejects it.
 */
export const readFirstLine = async (input: Readable): Promise<string> => {
  let text = '';
  for await (const chunk of input.setEncoding('utf8')) {
    text += chunk;
    if (/[\r\n]/.test(text) || text.length > MAX_CHARACTERS) break;
  }
  return /^[^\r\n]*/.exec(text)?.[0] ?? '';
};
