import type { RequestHandler } from 'express';

const SELF = "'self'";
const NONE = "'none'";
/** For libraries that put their styles into their elements. */
const INLINE = "'self' 'unsafe-inline'";

/** Nothing comes from another host or runs from a string, and nobody frames it, but for what is said here. */
const policy = (directives: Readonly<Record<string, string>>): string =>
  Object.entries({ 'default-src': NONE, 'frame-ancestors': NONE, ...directives })
    .map(([name, sources]) => `${name} ${sources}`)
    .join('; ');

/** Whatever is served to a browser is not guessed at, framed, embedded or told of to others. */
const EVERYWHERE = {
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
} as const;

const HEADERS = {
  /** The dashboard's API: answers hold secrets that are shown once, so nobody keeps them. */
  answers: { 'Content-Security-Policy': policy({}), 'Cache-Control': 'no-store' },
  /** The dashboard's pages, which say themselves how long each file is kept. */
  pages: {
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
  },
  /** The operator's page, which has a base of its own. */
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
  /** The page that shows the API's description. */
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

/** Puts the security headers on what is served there; the one table of them. */
export const secure = (where: keyof typeof HEADERS): RequestHandler => {
  const headers = new Map(Object.entries({ ...EVERYWHERE, ...HEADERS[where] }));
  return (_req, res, next) => {
    res.setHeaders(headers);
    next();
  };
};
