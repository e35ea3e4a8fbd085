import type { Readable } from 'node:stream';
import { connectRedis, createProducer, type Producer } from '@vat/queues';
import { readSettings } from '@vat/runtime';

/** The command did what it was told, and what it found is bad: the answer is printed as it is, with exit code 1. */
export class FailedCheck extends Error {
  override name = 'FailedCheck';
  constructor(readonly answer: Record<string, unknown>) {
    super('what was found is bad news');
  }
}

/** The command was written wrongly, or names something that does not exist; the message says what to write. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** The words after the command, as `node:util` parsed them. */
type Arguments = { positionals: string[]; flags: Record<string, string | boolean | undefined> };

/** One command: how it is written, which flags it knows, and what it does. It returns the one JSON object to print. */
export type Command = {
  usage: string;
  flags: Record<string, { type: 'string' | 'boolean' }>;
  run: (args: Arguments) => Promise<Record<string, unknown>>;
};

const REDIS_WAIT_MS = 5_000;

/** Resolves when the connection can be used, or throws. */
const ready = (redis: ReturnType<typeof connectRedis>): Promise<void> =>
  new Promise((resolve, reject) => {
    if (redis.status === 'ready') return resolve();
    const timer = setTimeout(() => reject(new UsageError('Redis does not answer at REDIS_URL.')), REDIS_WAIT_MS);
    redis.once('ready', () => {
      clearTimeout(timer);
      resolve();
    });
  });

/** Runs work that adds jobs, over a connection of its own. Throws {@link UsageError} when Redis does not answer, and SettingsError. */
export const withProducer = async <T>(env: NodeJS.ProcessEnv, work: (producer: Producer) => Promise<T>): Promise<T> => {
  const settings = readSettings(env, ['REDIS_URL', 'REDIS_PREFIX']);
  const redis = connectRedis(settings.REDIS_URL, 'producer', () => undefined);
  const producer = createProducer(redis, settings.REDIS_PREFIX);
  try {
    await ready(redis);
    return await work(producer);
  } finally {
    await producer.close();
    redis.disconnect();
  }
};

/** Longer than any password that is accepted. */
const MAX_CHARACTERS = 10_000;

/**
 * The first line of a stream without its line break, for a secret that must not be among a program's arguments: those are
 * visible to every user of the machine. Closes the stream. A line that is too long is cut, and then refused by its reader.
 */
export const readFirstLine = async (input: Readable): Promise<string> => {
  let text = '';
  for await (const chunk of input.setEncoding('utf8')) {
    text += chunk;
    if (/[\r\n]/.test(text) || text.length > MAX_CHARACTERS) break;
  }
  return /^[^\r\n]*/.exec(text)?.[0] ?? '';
};
