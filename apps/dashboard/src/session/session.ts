import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import { type Api, useApi } from '../api/create-api.js';
import type { Session } from '../api/shapes.js';

/** What a page knows before anything else: who is signed in, and whether accounts can be opened here. */
export type Boot = { signup: 'open' | 'closed'; session: Session | null };

/** The key under which it is remembered. */
export const BOOT = ['boot'] as const;

/** Asks who is signed in, in a call that a visitor may make too. */
const readBoot = (api: Api): Promise<Boot> => api.call<Boot>('GET', '/config');

/** Over which the windows of one browser tell each other that somebody has signed in or out. */
export const SESSION_CHANNEL = 'vat-session';

/** Has the browser's other windows of the dashboard ask anew who is signed in. */
const notifyOtherWindows = (): void => {
  const channel = new BroadcastChannel(SESSION_CHANNEL);
  channel.postMessage('changed');
  channel.close();
};

/** Who is signed in; asked once and then changed by signing in and out. */
export const useBoot = (): UseQueryResult<Boot> => {
  const api = useApi();
  return useQuery({ queryKey: BOOT, queryFn: () => readBoot(api), staleTime: Number.POSITIVE_INFINITY });
};

/** Notes that somebody has signed in (a session) or out (null), and forgets what was read for whoever was there before. */
export const useEnter = (): ((session: Session | null) => void) => {
  const queries = useQueryClient();
  return (session) => {
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== BOOT[0] });
    queries.setQueryData<Boot>(BOOT, (boot) => ({ signup: boot?.signup ?? 'closed', session }));
    notifyOtherWindows();
  };
};

/** The session, for pages that are only shown with one. */
export const useSession = (): Session => {
  const session = useBoot().data?.session;
  if (!session) throw new Error('a page that needs a session was shown without one');
  return session;
};
