import type { Api } from '../api/create-api.js';
import type { Session } from '../api/shapes.js';

/** What a page knows before anything else: who is signed in, and whether accounts can be opened here. */
export type Boot = { signup: 'open' | 'closed'; session: Session | null };

/** The key under which it is remembered. */
export const BOOT = ['boot'] as const;

/** Asks who is signed in, in a call that a visitor may make too. */
export const readBoot = (api: Api): Promise<Boot> => api.call<Boot>('GET', '/config');
