import { AsyncLocalStorage } from 'node:async_hooks';

/** Fields that every line of one piece of work carries: the request id of a call, the id of a job. */
export type LogContext = Readonly<Record<string, unknown>>;

/** The context of whatever runs now; kept by Node along promises and callbacks. Nothing but the logger reads it. */
export const currentLogContext = new AsyncLocalStorage<LogContext>();

/** Runs `work` so that every line it logs, however deep, carries `fields`. */
export const withLogContext = <T>(fields: LogContext, work: () => T): T =>
  currentLogContext.run({ ...currentLogContext.getStore(), ...fields }, work);
