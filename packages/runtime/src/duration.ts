import { z } from 'zod';

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** Reads `250ms`, `10s`, `2m`, `1h` as milliseconds; `null` for anything else. Source: contract part 2 §2. */
export const readDuration = (text: string): number | null => {
  const match = /^(\d{1,9})(ms|s|m|h)$/.exec(text.trim());
  return match ? Number(match[1]) * UNITS[match[2] as keyof typeof UNITS] : null;
};

/** A setting that is a duration, in milliseconds once read. */
export const duration = () =>
  z.string().transform((text, context) => {
    const ms = readDuration(text);
    if (ms !== null) return ms;
    context.addIssue({ code: 'custom', message: 'write a duration as 250ms, 10s, 2m or 1h' });
    return z.NEVER;
  });

/** A setting that is a comma-separated list of at least one duration. */
export const durations = () =>
  z.string().transform((text, context) => {
    const list = text.split(',').map(readDuration);
    if (list.every((ms) => ms !== null)) return list;
    context.addIssue({ code: 'custom', message: 'write durations as 500ms,1s,2m' });
    return z.NEVER;
  });
