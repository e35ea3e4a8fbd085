import { AppError } from '@vat/domain';
import type { RequestHandler } from 'express';

const hostOf = (origin: string): string | null => (URL.canParse(origin) ? new URL(origin).host : null);

/**
 * Refuses with FORBIDDEN what a browser sends from a page of another site, such as a sign-in that would put its victim
 * into the attacker's account. Behind a proxy that changes Host, BASE_URL is how the service is known. A caller without
 * Origin is no browser.
 */
export const requireSameOrigin =
  (baseUrl: () => string): RequestHandler =>
  (req, _res, next) => {
    const origin = req.get('origin');
    if (origin !== undefined) {
      const host = hostOf(origin);
      if (host === null || (host !== req.get('host') && host !== hostOf(baseUrl()))) {
        throw new AppError('FORBIDDEN', { message: 'The call comes from a page of another site.' });
      }
    }
    next();
  };
