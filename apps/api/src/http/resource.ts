import { AppError } from '@vat/domain';
import type { IRouter, RequestHandler } from 'express';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/**
 * Mounts the methods of one path and answers every other method with 405 and `Allow`. The method is checked before anything
 * else, so no handler of the path runs first.
 */
export const resource = (router: IRouter, path: string, methods: Partial<Record<Method, RequestHandler[]>>): void => {
  const route = router.route(path);
  for (const [method, handlers] of Object.entries(methods)) route[method as Method](...handlers);
  const names = Object.keys(methods).map((method) => method.toUpperCase());
  const allow = (names.includes('GET') ? ['GET', 'HEAD', ...names.filter((name) => name !== 'GET')] : names).join(', ');
  route.all((_req, res) => {
    res.setHeader('Allow', allow);
    throw new AppError('METHOD_NOT_ALLOWED', { message: `This path accepts ${allow}.` });
  });
};

/** Answers every method but GET and HEAD with 405 and `Allow`, on all paths below. */
export const readOnly: RequestHandler = (req, res, next) => {
  if (req.method === 'GET' || req.method === 'HEAD') return next();
  res.setHeader('Allow', 'GET, HEAD');
  throw new AppError('METHOD_NOT_ALLOWED', { message: 'This path accepts GET, HEAD.' });
};
