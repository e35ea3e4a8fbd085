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

/** A route by its method and its path, with `{id}` as a placeholder. */
type MountedRoute = { method: Method; path: string; handlers: RequestHandler[] };

/** Mounts routes, of which several may have the same path, see {@link resource}. */
export const resources = (router: IRouter, routes: readonly MountedRoute[]): void => {
  const paths = new Map<string, Partial<Record<Method, RequestHandler[]>>>();
  for (const { method, path, handlers } of routes) paths.set(path, { ...paths.get(path), [method]: handlers });
  // Paths that end with an id come last: `/anchors/:id` also matches what `/anchors/:id.tsr` is for.
  const endsWithId = (path: string) => Number(path.endsWith('/{id}'));
  for (const [path, methods] of [...paths].sort(([a], [b]) => endsWithId(a) - endsWithId(b))) {
    resource(router, path.replace('{id}', ':id'), methods);
  }
};

/** Answers every method but GET and HEAD with 405 and `Allow`, on all paths below. */
export const readOnly: RequestHandler = (req, res, next) => {
  if (req.method === 'GET' || req.method === 'HEAD') return next();
  res.setHeader('Allow', 'GET, HEAD');
  throw new AppError('METHOD_NOT_ALLOWED', { message: 'This path accepts GET, HEAD.' });
};
