import { ApiError } from '../api/api-error.js';
import type { Api } from '../api/create-api.js';
import type { Session } from '../api/shapes.js';

/** What a page knows before anything else: who is signed in, and whether accounts can be opened here. */
export type Boot = { signup: 'open' | 'closed'; session: Session | null };

/** The key under which it is remembered. */
export const BOOT = ['boot'] as const;

const readSession = (api: Api): Promise<Session | null> =>
  api.call<Session>('GET', '/session').catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  });

/** Asks who is signed in, in one call that a visitor may make too. */
export const readBoot = async (api: Api): Promise<Boot> => {
  const config = await api
    .call<{ signup: Boot['signup']; session?: Session | null }>('GET', '/config')
    .catch((error: unknown): { signup: Boot['signup']; session?: Session | null } => {
      if (error instanceof ApiError && error.status === 404) return { signup: 'closed' };
      throw error;
    });
  return { signup: config.signup, session: config.session === undefined ? await readSession(api) : config.session };
};
