/** The part of the address rule that a refused URL breaks. */
type UrlRule = 'scheme' | 'user_info' | 'port' | 'length' | 'address' | 'resolution' | 'form';

/** A refused URL: `message` is a sentence for the user. */
export type UrlRefusal = { ok: false; rule: UrlRule; message: string };

const MAX_LENGTH = 2_048;

/** Counts characters (Unicode code points), as the schemas do. The text may be large. */
const isTooLong = (text: string): boolean =>
  text.length > MAX_LENGTH && (text.length > 2 * MAX_LENGTH || [...text].length > MAX_LENGTH);

const refuse = (rule: UrlRule, message: string): UrlRefusal => ({ ok: false, rule, message });

/** 443 and the unprivileged ports. The other well-known ports belong to other services, not to a webhook receiver. */
const isPortAllowed = (port: number): boolean => port === 443 || (port >= 1024 && port <= 65_535);

/** An endpoint's URL: `given` is the text without outer blanks, `url` the URL that is validated and sent to. */
export type Endpoint = { ok: true; given: string; url: URL };

/**
 * Parses an endpoint's URL and validates everything that needs no name resolution. Never throws. The returned `url` is
 * normalised: address literals in their usual notation, names in ASCII, no trailing dot, no fragment. It is stricter than
 * the URL parser, which repairs blanks, backslashes and missing slashes and drops invisible characters: the URL that is
 * stored and displayed must be the URL that receives the deliveries.
 */
export const readEndpoint = (text: string): Endpoint | UrlRefusal => {
  const trimmed = text.trim();
  if (isTooLong(trimmed)) return refuse('length', `The URL is longer than ${MAX_LENGTH} characters.`);

  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(trimmed)?.[1];
  if (scheme === undefined) return refuse('form', 'This is not a URL. Give one that begins with https://.');
  if (scheme.toLowerCase() !== 'https') return refuse('scheme', 'The URL must begin with https://.');
  if (/[\p{Cc}\p{Zl}\p{Zp} \\]/u.test(trimmed)) {
    return refuse('form', 'The URL contains a blank, a control character or a backslash.');
  }
  if (!trimmed.isWellFormed()) return refuse('form', 'The URL contains half a character.');
  const authority = /^https:\/\/([^/?#]+)/i.exec(trimmed)?.[1];
  if (authority === undefined) return refuse('form', 'The URL names no host.');
  if (/(?![\u200c\u200d])\p{DI}/u.test(authority)) return refuse('form', 'The host has a character that nobody sees.');
  if (authority.includes('@')) return refuse('user_info', 'The URL must not contain a user name or password.');

  const port = /^(?:\[[^\]]*\]|[^:]*):(\d*)$/.exec(authority)?.[1];
  if (port && !isPortAllowed(Number(port))) {
    return refuse('port', `Port ${Number(port)} is not allowed; use 443 or one from 1024 to 65535.`);
  }
  if (!URL.canParse(trimmed)) return refuse('form', 'The URL is not well-formed.');

  const url = new URL(trimmed);
  const host = url.hostname.replace(/\.$/, '');
  if (host.split('.').includes('')) return refuse('form', 'The host name has an empty part.');
  url.hostname = host;
  url.hash = '';
  return { ok: true, given: trimmed, url };
};
