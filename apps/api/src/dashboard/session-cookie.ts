import type { Request, Response } from 'express';

/** The cookie that carries a session's token. */
export type SessionCookie = {
  /** The token a browser sent; `null` when it sent none, or something that is none of ours. */
  read: (req: Request) => string | null;
  set: (res: Response, token: string) => void;
  clear: (res: Response) => void;
};

/**
 * Over https the cookie is `__Host-` and Secure: no neighbouring host and no plain connection can set or read it. Over
 * http browsers would refuse both. `baseUrl` is asked late: the port is known only once it is bound.
 */
export const sessionCookie = (baseUrl: () => string, maxAgeMs: number): SessionCookie => {
  const isSecure = () => baseUrl().startsWith('https:');
  const name = () => (isSecure() ? '__Host-vat_session' : 'vat_session');
  const attributes = () => ({ httpOnly: true, sameSite: 'lax', path: '/', secure: isSecure() }) as const;
  return {
    read: (req) => {
      const token = new RegExp(`(?:^|;) *${name()}=([A-Za-z0-9_-]{43}) *(?:;|$)`).exec(req.get('cookie') ?? '')?.[1];
      return token ?? null;
    },
    set: (res, token) => void res.cookie(name(), token, { ...attributes(), maxAge: maxAgeMs }),
    clear: (res) => void res.clearCookie(name(), attributes()),
  };
};
