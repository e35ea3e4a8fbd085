import type { RequestHandler } from 'express';

const SELF = "'self'";
const NONE = "'none'";
/** For libraries that set inline styles. */
const INLINE = "'self' 'unsafe-inline'";

/** A Content-Security-Policy that forbids loading and framing by default; `directives` names the exceptions. */
const policy = (directives: Readonly<Record<string, string>>): string =>
  Object.entries({ 'default-src': NONE, 'frame-ancestors': NONE, ...directives })
    .map(([name, sources]) => `${name} ${sources}`)
    .join('; ');

/** Headers of every answer to a browser: no content sniffing, framing, cross-origin embedding or referrer. */
const EVERYWHERE = {
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
} as const;

/** Pages that run our own scripts. */
const PAGES = {
  'Content-Security-Policy': policy({
    'script-src': SELF,
    'style-src': SELF,
    'img-src': SELF,
    'connect-src': SELF,
    'form-action': SELF,
    'base-uri': NONE,
  }),
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=()',
} as const;

const HEADERS = {
  /** The dashboard's API. Answers contain secrets that are shown once, so they must not be cached. */
  answers: { 'Content-Security-Policy': policy({}), 'Cache-Control': 'no-store' },
  /** The dashboard's pages. Their routes set `Cache-Control` for each file. */
  pages: PAGES,
  /** The public page of a check. Search engines must not list it. */
  verification: { ...PAGES, 'X-Robots-Tag': 'noindex, nofollow' },
  /** The operations page, which sets its own base URL. */
  operations: {
    'Content-Security-Policy': policy({
      'script-src': SELF,
      'style-src': INLINE,
      'img-src': "'self' data:",
      'font-src': SELF,
      'connect-src': SELF,
      'form-action': NONE,
      'base-uri': SELF,
    }),
    'Cache-Control': 'no-store',
    'X-Robots-Tag': 'noindex, nofollow',
  },
  /** The public status page: no scripts. */
  status: {
    'Content-Security-Policy': policy({ 'style-src': INLINE, 'img-src': SELF, 'base-uri': NONE, 'form-action': NONE }),
  },
  /** The page that turns e-mail off: a form, no scripts. */
  unsubscribe: {
    'Content-Security-Policy': policy({ 'style-src': INLINE, 'img-src': SELF, 'base-uri': NONE, 'form-action': SELF }),
    'Cache-Control': 'no-store',
    'X-Robots-Tag': 'noindex, nofollow',
  },
  /** The page with the API reference. */
  docs: {
    'Content-Security-Policy': policy({
      'default-src': SELF,
      'style-src': INLINE,
      'img-src': "'self' data:",
      'base-uri': NONE,
      'form-action': SELF,
    }),
  },
} as const;

/** The security headers of a part of the service. */
export const headersOf = (where: keyof typeof HEADERS): [name: string, value: string][] =>
  Object.entries({ ...EVERYWHERE, ...HEADERS[where] });

/** Sets the security headers of a part of the service. */
export const secure = (where: keyof typeof HEADERS): RequestHandler => {
  const headers = new Map(headersOf(where));
  return (_req, res, next) => {
    res.setHeaders(headers);
    next();
  };
};
