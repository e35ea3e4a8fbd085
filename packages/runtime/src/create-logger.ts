import { AsyncLocalStorage } from 'node:async_hooks';
import winston from 'winston';

/** Fields of every log line of one request, such as `request_id`. */
type LogContext = Readonly<Record<string, unknown>>;

/** The context of the running code; Node propagates it through promises and callbacks. Only the logger reads it. */
const currentLogContext = new AsyncLocalStorage<LogContext>();

/** Runs `work` with `fields` in every line that it and the functions it calls log. */
export const withLogContext = <T>(fields: LogContext, work: () => T): T =>
  currentLogContext.run({ ...currentLogContext.getStore(), ...fields }, work);

/** Runs `work` that concerns the whole process, but was started by the timer or socket of one request: its lines are not of that. */
export const withoutLogContext = <T>(work: () => T): T => currentLogContext.run({}, work);

/** The logger of a process. The message is a fixed sentence, data goes into fields; ERROR means that somebody must act. */
export type Logger = {
  error: (message: string, fields?: Record<string, unknown>) => void;
  warn: (message: string, fields?: Record<string, unknown>) => void;
  info: (message: string, fields?: Record<string, unknown>) => void;
  debug: (message: string, fields?: Record<string, unknown>) => void;
  child: (fields: Record<string, unknown>) => Logger;
};

/** Fields whose values are never logged. */
const SECRET_FIELDS = /^(authorization|cookie|password|secret|key|api_key|token|csrf_token|name|address|body)$/i;

const hideSecrets = winston.format((info) => {
  for (const field of Object.keys(info)) if (SECRET_FIELDS.test(field)) info[field] = '[hidden]';
  return info;
});

/** Adds the ids of the request or job to each line. */
const addContext = winston.format((info) => Object.assign(info, currentLogContext.getStore()));

/**
 * The message of an error. That of a name with several addresses, such as `localhost`, of which none accepts a connection is empty:
 * the messages of its errors say why. Prisma leaves nothing of it but its code, after "… invocation:". An error that
 * says nothing at all is named by its class.
 */
export const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const { message, errors, code } = error as { message: string; errors?: unknown; code?: unknown };
  if (message === '' && Array.isArray(errors)) return errors.map(messageOf).join('; ');
  const text = message.trim();
  return text === '' || text.endsWith('invocation:') ? `${text} ${String(code ?? error.name)}`.trim() : message;
};

export const errorFields = (error: unknown): Record<string, unknown> =>
  error instanceof Error
    ? { error: messageOf(error), error_class: error.name, stack: error.stack }
    : { error: String(error) };

/**
 * Logs JSON lines, or readable lines to a terminal. `fields` go into every line (service, process id). A line that cannot be
 * written is lost: a full disk, or a reader of the log that has ended, must not end the service.
 */
export const createLogger = (options: {
  level: string;
  output: NodeJS.WritableStream & { isTTY?: boolean };
  fields: Record<string, unknown>;
}): Logger => {
  const { combine, timestamp, json, colorize, printf } = winston.format;
  if (options.output.listenerCount('error') === 0) options.output.on('error', () => undefined);
  const pretty = combine(
    colorize(),
    printf(({ timestamp: at, level, message, service, stack, pid: _pid, ...fields }) => {
      const rest = Object.keys(fields).length > 0 ? ` ${JSON.stringify(fields)}` : '';
      return `${String(at).slice(11, 23)} ${level} ${String(service)}: ${String(message)}${rest}${stack ? `\n${String(stack)}` : ''}`;
    }),
  );
  const logger = winston.createLogger({
    level: options.level,
    defaultMeta: options.fields,
    format: combine(addContext(), hideSecrets(), timestamp(), options.output.isTTY ? pretty : json()),
    transports: [new winston.transports.Stream({ stream: options.output })],
  });
  // winston formats a line before it checks the level, which is expensive for the debug line of each delivery.
  if (!logger.isDebugEnabled()) logger.debug = () => logger;
  return logger;
};

/** A line about a lasting problem is repeated after this long. */
const REPEAT_MS = 30_000;

/**
 * Throttles a log line that recurs many times a second: the first one is logged, then at most one every `everyMs`, with the
 * number of suppressed lines (`unsaid`).
 */
export const throttledLog = (
  log: (fields: Record<string, unknown>) => void,
  now: () => Date,
  everyMs = REPEAT_MS,
): ((fields: Record<string, unknown>) => void) => {
  let suppressedUntil = 0;
  let suppressed = 0;
  return (fields) => {
    const at = now().getTime();
    // More than the interval is left only if the clock was set back.
    if (at < suppressedUntil && suppressedUntil - at <= everyMs) {
      suppressed += 1;
      return;
    }
    log(suppressed > 0 ? { ...fields, unsaid: suppressed } : fields);
    suppressedUntil = at + everyMs;
    suppressed = 0;
  };
};

/** Throttles warnings of a failure that recurs many times a second on dozens of connections, such as an unavailable server. */
export const throttledWarn = (
  log: Pick<Logger, 'warn'>,
  message: string,
  now: () => Date,
  everyMs = REPEAT_MS,
): ((error: unknown, fields?: Record<string, unknown>) => void) => {
  const warn = throttledLog((fields) => log.warn(message, fields), now, everyMs);
  return (error, fields = {}) => warn({ ...fields, ...errorFields(error) });
};
