/** Replaces Date in the process by one that is `skewMs` ahead. */
const PRELOAD = (skewMs: number) => `
const Own = Date;
const now = () => Own.now() + ${skewMs};
globalThis.Date = new Proxy(Own, {
  construct: (target, args, created) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, created === globalThis.Date ? target : created),
  apply: () => new Own(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
});`;

/** Settings of a process whose clock is `skewMs` ahead, or behind if that is negative, like a machine without NTP. */
export const skewedClock = (skewMs: number): Record<string, string> => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(PRELOAD(skewMs))}`,
});
