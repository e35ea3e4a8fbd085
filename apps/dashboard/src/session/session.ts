import { type QueryClient, type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import { type Access, roleAllows } from '@vat/domain/roles';
import type { ReactNode } from 'react';
import { useApi } from '../api/create-api.js';
import type { Session } from '../api/shapes.js';
import { retryInterval } from '../api/use-api-query.js';

/** The data every page needs first: the session, and what the operator has set. */
export type Boot = {
  signup: 'open' | 'closed';
  public_verification: boolean;
  key_rate_limit: number;
  session: Session | null;
  /** The session that ended on the server while this page was open. The page stays until its user has signed in again. */
  ended?: Session | null;
};

/** Query key of the boot data. */
export const BOOT = ['boot'] as const;

/** The broadcast channel on which windows of one browser announce sign-in and sign-out. */
const SESSION_CHANNEL = 'vat-session';

/** What windows announce: the session is another one, or the user has signed out. */
type SessionNews = 'changed' | 'signed out';

/** Makes the other windows of this browser read their session again. */
export const notifyOtherWindows = (news: SessionNews = 'changed'): void => {
  const channel = new BroadcastChannel(SESSION_CHANNEL);
  channel.postMessage(news);
  channel.close();
};

/** Follows what the other windows of this browser announce. */
export const followOtherWindows = (queries: QueryClient): void => {
  new BroadcastChannel(SESSION_CHANNEL).onmessage = ({ data }: MessageEvent<SessionNews>) => {
    // Otherwise the page would ask to sign in again, as for a session that the server has ended.
    if (data === 'signed out') {
      queries.setQueryData<Boot>(BOOT, (boot) => boot && { ...boot, session: null, ended: null });
    }
    void queries.invalidateQueries({ queryKey: BOOT });
  };
};

const removeCachedData = (queries: QueryClient): void =>
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== BOOT[0] });

/** Identifies the user of a session: an e-mail address can move to another account. */
export const userOf = ({ account }: Session): string => `${account.account_id} ${account.email}`;

/** The session that pages show: the current one, or the one that has ended while they were open. */
export const shownSession = (boot: Boot | undefined): Session | null => boot?.session ?? boot?.ended ?? null;

const isSameUser = (one: Session | null, other: Session | null): boolean =>
  one !== null && other !== null && userOf(one) === userOf(other);

/**
 * Called when a call finds that its session has ended on the server. Resolves once there is another session, or the user has
 * signed out, to whether the user of that call has signed in again.
 */
export const awaitSignIn =
  (queries: QueryClient) =>
  (ended: Session): Promise<boolean> => {
    const read = () => queries.getQueryData<Boot>(BOOT);
    if (read()?.session?.csrf_token === ended.csrf_token) {
      queries.setQueryData<Boot>(BOOT, (boot) => boot && { ...boot, session: null, ended });
    }
    return new Promise((resolve) => {
      const look = () => {
        const boot = read();
        if (boot?.session === null && boot.ended) return;
        stop();
        resolve(isSameUser(boot?.session ?? null, ended));
      };
      const stop = queries.getQueryCache().subscribe(look);
      look();
    });
  };

/** An operator can disable the account or change its plan at any time, which causes no page updates. */
const POLL_INTERVAL_MS = 60_000;

/** The boot data: updated by sign-in and sign-out, also in other windows, and polled while the user is signed in. */
export const useBoot = (): UseQueryResult<Boot> => {
  const api = useApi();
  const queries = useQueryClient();
  return useQuery({
    queryKey: BOOT,
    queryFn: async () => {
      const boot = await api.call<Boot>('GET', '/config');
      const before = queries.getQueryData<Boot>(BOOT);
      // Another user may have signed in in another window.
      if (before && boot.session && !isSameUser(shownSession(before), boot.session)) removeCachedData(queries);
      return boot.session ? boot : { ...boot, ended: shownSession(before) };
    },
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: (query) => retryInterval(query) || (query.state.data?.session ? POLL_INTERVAL_MS : false),
  });
};

/** Sets the session after sign-in, or null after sign-out. Removes the cached data of another user. */
export const useSetSession = (): ((session: Session | null) => void) => {
  const queries = useQueryClient();
  return (session) => {
    if (!isSameUser(shownSession(queries.getQueryData<Boot>(BOOT)), session)) removeCachedData(queries);
    queries.setQueryData<Boot>(BOOT, (boot) => boot && { ...boot, session, ended: null });
    notifyOtherWindows(session ? 'changed' : 'signed out');
  };
};

/** The session, on pages that require one. */
export const useSession = (): Session => {
  const session = shownSession(useBoot().data);
  if (!session) throw new Error('useSession is used without a session');
  return session;
};

/** Whether the user's role allows such calls. The service decides the same for each call. */
export const useMay = (access: Access): boolean => roleAllows(useSession().account.role, access);

/** Controls that change something. Auditors do not see them. */
export const Changing = ({ children }: { children: ReactNode }): ReactNode => (useMay('change') ? children : null);
