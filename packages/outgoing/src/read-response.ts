/** The value of a JSON text in UTF-8, with or without a byte order mark; undefined when it is not JSON. */
export const readJson = (body: Uint8Array): unknown => {
  try {
    // Not fatal on invalid UTF-8: a name in a wrong encoding does not affect the rest of an answer.
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
};

/** True for the beginning of an HTML page, which proxies and web servers send instead of an API's answer. */
export const isHtml = (body: Uint8Array): boolean =>
  new TextDecoder().decode(body.subarray(0, 64)).trimStart().startsWith('<');

const SECONDS = /^\d+$/;
/** Every HTTP date begins with the name of its day. Nothing else is read as one: `Date.parse` accepts nearly everything. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/;

const dateMs = (text: string | undefined): number =>
  text !== undefined && HTTP_DATE.test(text) ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`) : Number.NaN;

/**
 * Milliseconds of a Retry-After, Infinity for more seconds than a number holds; 0 for a time in the past, null without one that is
 * seconds or an HTTP date. The caller limits them.
 */
export const retryAfterMs = (headers: Readonly<Record<string, string>>, receivedAt: Date): number | null => {
  const value = headers['retry-after']?.trim() ?? '';
  if (SECONDS.test(value)) return Number(value) * 1_000;
  const until = dateMs(value);
  if (Number.isNaN(until)) return null;
  // The upstream's own clock if it sends a Date: the local clock may differ by more than the delay.
  const from = dateMs(headers.date?.trim());
  return Math.max(0, until - (Number.isNaN(from) ? receivedAt.getTime() : from));
};

/** The result of one request that tests an upstream. `status` is the HTTP status; null when there was no answer. */
export type Probe = { name: string; ok: boolean; ms: number; status: number | null; detail: string | null };
