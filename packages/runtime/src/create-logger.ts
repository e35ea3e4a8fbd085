import { AsyncLocalStorage } from 'node:async_hooks';
import winston from 'winston';

/** Fields that every line of one piece of work carries: the request id of a call, the id of a job. */
export type LogContext = Readonly<Record<string, unknown>>;

/** The context of whatever runs now; kept by Node along promises and callbacks. Nothing but the logger reads it. */
export const currentLogContext = new AsyncLocalStorage<LogContext>();

/** Runs `work` so that every line it logs, however deep, carries `fields`. */
export const withLogContext = <T>(fields: LogContext, work: () => T): T =>
  currentLogContext.run({ ...currentLogContext.getStore(), ...fields }, work);

/** What a process logs with: the message is a fixed sentence, data goes into fields. ERROR means somebody must act. */
export type Logger = {
  error: (message: string, fields?: Record<string, unknown>) => void;
  warn: (message: string, fields?: Record<string, unknown>) => void;
  info: (message: string, fields?: Record<string, unknown>) => void;
  debug: (message: string, fields?: Record<string, unknown>) => void;
  child: (fields: Record<string, unknown>) => Logger;
};

/** Field names whose values never reach a log, whoever passes them. */
const SECRET_FIELDS = /^(authorization|cookie|password|secret|key|api_key|token|csrf_token|name|address|body)$/i;

const hideSecrets = winston.format((info) => {
  for (const field of Object.keys(info)) if (SECRET_FIELDS.test(field)) info[field] = '[hidden]';
  return info;
});

/** The ids of the work a line belongs to, so that no line is without them. */
const addContext = winston.format((info) => Object.assign(info, currentLogContext.getStore()));

/** An error as log fields; the stack only where somebody will look for it. */
export const errorFields = (error: unknown): Record<string, unknown> =>
  error instanceof Error
    ? { error: error.message, error_class: error.name, stack: error.stack }
    : { error: String(error) };

/** JSON lines on stdout, readable lines on a terminal. `fields` go into every line (service, process id). */
export const createLogger = (options: { level: string; pretty: boolean; fields: Record<string, unknown> }): Logger => {
  const { combine, timestamp, json, colorize, printf } = winston.format;
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
    format: combine(addContext(), hideSecrets(), timestamp(), options.pretty ? pretty : json()),
    transports: [new winston.transports.Console()],
  });
  // winston formats each line before it finds that nobody wants it, which a line for each delivery makes dear.
  if (!logger.isDebugEnabled()) logger.debug = () => logger;
  return logger;
};

/**
 * Says what comes back many times a second once, and then at most every `everyMs`, with the number of times it was not
 * said (`unsaid`).
 */
export const throttledLog = (
  say: (fields: Record<string, unknown>) => void,
  everyMs: number,
  now: () => Date,
): ((fields: Record<string, unknown>) => void) => {
  let quietUntil = 0;
  let unsaid = 0;
  return (fields) => {
    const at = now().getTime();
    if (at < quietUntil) {
      unsaid += 1;
      return;
    }
    say(unsaid > 0 ? { ...fields, unsaid } : fields);
    quietUntil = at + everyMs;
    unsaid = 0;
  };
};

/** Warns of a failure that comes back many times a second on dozens of connections (a server that is away), sparingly. */
export const throttledWarn = (
  log: Pick<Logger, 'warn'>,
  message: string,
  everyMs: number,
  now: () => Date,
): ((error: unknown, fields?: Record<string, unknown>) => void) => {
  const say = throttledLog((fields) => log.warn(message, fields), everyMs, now);
  return (error, fields = {}) => say({ ...fields, ...errorFields(error) });
};
